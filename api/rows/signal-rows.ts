import type { Store } from '../../pipeline/store/store.ts'
import {
  readNewestSignals,
  readSignalsBetween,
  type StoredSignal,
} from '../../pipeline/store/tables/signals.ts'
import { readLeftTokens } from '../../pipeline/store/tables/watchlist.ts'
import {
  readWithdrawnSince,
  type WithdrawnTokenSwap,
} from '../../pipeline/store/tables/withdrawn-swaps.ts'
import type { CursorCodec } from '../cursor.ts'
import type { SignalRow } from '../items/signal.ts'
import type { Watchlist } from './watchlist-reader.ts'

/**
 * Reads the newest signals as of the tick of `watchlist`: newest first; within a tick by mint and
 * strategy descending.
 */
export async function readSignals(
  store: Store,
  watchlist: Watchlist,
  { limit, tradeId }: { readonly limit: number } & Pick<CursorCodec, 'tradeId'>,
): Promise<SignalRow[]> {
  const rows = await readNewestSignals(store, watchlist.at ?? 0, limit)
  const listed = new Map(watchlist.rows.map((row) => [row.mint, row]))
  const gone = [...new Set(rows.map((row) => row.mint))].filter((mint) => !listed.has(mint))
  const [left, withdrawn] = await Promise.all([
    readLeftTokens(store, gone, rows.at(-1)?.fired_at ?? 0, watchlist.at ?? 0),
    readWithdrawnSince(
      store,
      [...new Set(rows.map((row) => row.mint))],
      Math.min(...rows.map((row) => row.fired_at)) - DAY_SECONDS,
    ),
  ])
  return rows.map((row) => {
    const now = listed.get(row.mint) ?? left.get(row.mint)
    // The symbol may have become known after the strategy fired.
    const { symbol, name } = row.symbol === '' && row.name === '' ? (now ?? row) : row
    return {
      ...row,
      symbol,
      name,
      current_mcap: now?.current_mcap ?? null,
      exact_mcap: now?.exact_mcap ?? '',
      withdrawnTrades: withdrawn
        .filter((swap) => isBehind(swap, row))
        .map(({ key, blockId }) => tradeId(key, blockId)),
    }
  })
}

const DAY_SECONDS = 86_400

/** Whether a strategy counted a swap that was withdrawn after it had fired. */
function isBehind(
  { mint, blockTime, withdrawnAt }: WithdrawnTokenSwap,
  signal: Pick<StoredSignal, 'mint' | 'fired_at'>,
): boolean {
  if (mint !== signal.mint || withdrawnAt < signal.fired_at) return false
  return blockTime <= signal.fired_at && blockTime > signal.fired_at - DAY_SECONDS
}

/**
 * Reads signals that fired after tick `afterAt`, up to and including tick `throughAt`, by
 * `(fired_at, mint, strategy)`: the reverse order of `readSignals`.
 */
export async function readSignalsAfter(
  store: Store,
  afterAt: number,
  throughAt: number,
): Promise<SignalRow[]> {
  if (afterAt >= throughAt) return []
  const rows = await readSignalsBetween(store, afterAt, throughAt)
  return rows.map((row) => ({
    ...row,
    current_mcap: row.trigger_mcap,
    exact_mcap: row.exact_trigger_mcap,
  }))
}
