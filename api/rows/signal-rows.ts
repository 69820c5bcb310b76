import type { WatchlistRow } from '../../pipeline/store/read-watchlist.ts'
import type { Store } from '../../pipeline/store/store.ts'
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
  const rows = await store.query<StoredSignal>(
    `SELECT ${COLUMNS} FROM signals
     WHERE fired_at <= {at:UInt32}
     ORDER BY fired_at DESC, mint DESC, strategy DESC, entry DESC
     LIMIT 1 BY fired_at, mint, strategy, entry LIMIT {limit:UInt32}`,
    { at: watchlist.at ?? 0, limit },
  )
  const listed = new Map(watchlist.rows.map((row) => [row.mint, row]))
  const gone = [...new Set(rows.map((row) => row.mint))].filter((mint) => !listed.has(mint))
  const left = await readLeft(store, gone, rows.at(-1)?.fired_at ?? 0, watchlist.at ?? 0)
  return rows.map((row) => {
    const now = listed.get(row.mint) ?? left.get(row.mint)
    // The symbol may have become known after the strategy fired.
    const { symbol, name } = row.symbol === '' && row.name === '' ? (now ?? row) : row
    return { ...row, symbol, name, current_mcap: now?.current_mcap ?? null }
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
  const rows = await store.query<StoredSignal>(
    `SELECT ${COLUMNS} FROM signals
     WHERE fired_at > {afterAt:UInt32} AND fired_at <= {throughAt:UInt32}
     ORDER BY fired_at, mint, strategy, entry
     LIMIT 1 BY fired_at, mint, strategy, entry LIMIT ${MOST_ROWS}`,
    { afterAt, throughAt },
  )
  return rows.map((row) => ({ ...row, current_mcap: row.trigger_mcap }))
}

/** Largest number of rows. */
const MOST_ROWS = 1_000_000

type StoredSignal = Omit<SignalRow, 'current_mcap'>

const COLUMNS =
  'fired_at, strategy, mint, id, symbol, name, conviction, wallets, trigger_mcap, held_lamports, buy_lamports, sell_lamports, reasons'

type LeftToken = Pick<WatchlistRow, 'mint' | 'symbol' | 'name' | 'current_mcap'>

/** Reads tokens as of when they last left the list. */
async function readLeft(
  store: Store,
  mints: readonly string[],
  afterAt: number,
  throughAt: number,
): Promise<ReadonlyMap<string, LeftToken>> {
  if (mints.length === 0) return new Map()
  const rows = await store.query<LeftToken>(
    `SELECT mint, symbol, name, current_mcap FROM watchlist
     WHERE event = 'left' AND at > {afterAt:UInt32} AND at <= {throughAt:UInt32} AND mint IN {mints:Array(String)}
     ORDER BY at DESC LIMIT 1 BY mint`,
    { mints, afterAt, throughAt },
  )
  return new Map(rows.map((row) => [row.mint, row]))
}
