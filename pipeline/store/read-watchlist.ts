import type { Store } from './store.ts'

type Trend = 'up' | 'down' | 'flat'

/** A row of table `watchlist`; integers of 64 bits and more as decimal strings. */
export interface WatchlistRow {
  readonly at: number
  readonly mint: string
  readonly entry: number
  readonly event: 'entered' | 'changed' | 'left'
  readonly symbol: string
  readonly name: string
  readonly first_trade_at: number
  readonly discovered_at: number
  readonly oldest_hold_at: number | null
  readonly last_trade_at: number
  readonly wallets: readonly number[]
  readonly conviction: number
  readonly held_lamports: string
  readonly pct_held: number
  readonly avg_entry_mcap: number | null
  readonly current_mcap: number | null
  readonly multiple: number | null
  readonly band_min: number | null
  readonly band_max: number | null
  readonly buy_lamports: string
  readonly sell_lamports: string
  readonly mcap_change_pct: number
  readonly mcap_trend: Trend
  readonly holders_change_pct: number
  readonly holders_trend: Trend
  readonly volume1h: number
  readonly volume1h_change_pct: number
  readonly volume1h_trend: Trend
  readonly liquidity: number | null
  readonly liquidity_change_pct: number
  readonly liquidity_trend: Trend
  readonly state: 'discovered' | 'accumulating' | 'distributing' | 'holding'
  readonly near_evict: boolean
  readonly reasons: readonly string[]
}

/** The newest tick whose rows are all stored (unix seconds, divisible by 10); null before the first. What lies beyond it is not to be shown. */
export async function readNewestTick(store: Store): Promise<number | null> {
  const [row] = await store.query<{ block_time: number }>(
    "SELECT block_time FROM progress FINAL WHERE worker = 'trending' LIMIT 1",
    {},
    ['block_time'],
  )
  return row?.block_time ?? null
}

/**
 * The list as of tick `at`, which may be in the past, by conviction descending, then mint. A listed token was traded within 24 hours, each trade makes a row, and
 * `LOOK_BACK_SECONDS` is more than that: so older rows need not be read.
 */
export async function readWatchlist(store: Store, at: number): Promise<WatchlistRow[]> {
  return store.query<WatchlistRow>(
    `SELECT ${COLUMNS} FROM watchlist FINAL
     WHERE at > {since:UInt32} AND at <= {at:UInt32} AND (at, mint) IN (
       SELECT max(at), mint FROM watchlist WHERE at > {since:UInt32} AND at <= {at:UInt32} GROUP BY mint
     ) AND event != 'left'
     ORDER BY conviction DESC, mint LIMIT ${MOST_ROWS}`,
    { since: Math.max(0, at - LOOK_BACK_SECONDS), at },
  )
}

/** What changed after tick `afterAt`, up to and with tick `throughAt`, in the order of `(at, mint)`: rows of event `left` too. */
export async function readWatchlistChanges(
  store: Store,
  afterAt: number,
  throughAt: number,
): Promise<WatchlistRow[]> {
  if (afterAt >= throughAt) return []
  return store.query<WatchlistRow>(
    `SELECT ${COLUMNS} FROM watchlist FINAL
     WHERE at > {afterAt:UInt32} AND at <= {throughAt:UInt32} ORDER BY at, mint LIMIT ${MOST_ROWS}`,
    { afterAt, throughAt },
  )
}

/** No answer has more rows than this. */
const MOST_ROWS = 1_000_000
/** What a listed token's newest row may lie behind the tick: 24 hours without a trade, and the seconds of a tick and of the salt. */
const LOOK_BACK_SECONDS = 86_400 + 600

const COLUMNS = `at, mint, entry, event, symbol, name, first_trade_at, discovered_at, oldest_hold_at, last_trade_at, wallets, conviction,
  held_lamports, pct_held, avg_entry_mcap, current_mcap, multiple, band_min, band_max, buy_lamports, sell_lamports,
  mcap_change_pct, mcap_trend, holders_change_pct, holders_trend, volume1h, volume1h_change_pct, volume1h_trend,
  liquidity, liquidity_change_pct, liquidity_trend, state, near_evict, reasons`
