import type { Store } from '../../pipeline/store/store.ts'
import { readNewestSignals, readSignalsBetween } from '../../pipeline/store/tables/signals.ts'
import { readLeftTokens } from '../../pipeline/store/tables/watchlist.ts'
import type { SignalRow } from '../items/signal.ts'
import type { Watchlist } from './watchlist-reader.ts'

/**
 * Reads the newest signals as of the tick of `watchlist`: newest first; within a tick by mint and
 * strategy descending.
 */
export async function readSignals(
  store: Store,
  watchlist: Watchlist,
  { limit }: { readonly limit: number },
): Promise<SignalRow[]> {
  const rows = await readNewestSignals(store, watchlist.at ?? 0, limit)
  const listed = new Map(watchlist.rows.map((row) => [row.mint, row]))
  const gone = [...new Set(rows.map((row) => row.mint))].filter((mint) => !listed.has(mint))
  const left = await readLeftTokens(store, gone, rows.at(-1)?.fired_at ?? 0, watchlist.at ?? 0)
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
    }
  })
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
