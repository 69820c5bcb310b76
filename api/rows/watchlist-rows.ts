import type { Store } from '../../pipeline/store/store.ts'
import type { WatchlistRow } from '../items/watchlist.ts'

/** The newest tick whose rows are all stored (unix seconds, divisible by 10); null before the first. What lies beyond it is not to be shown. */
export async function readNewestTick(store: Store): Promise<number | null> {
  const [row] = await store.query<{ block_time: number }>(
    "SELECT block_time FROM progress FINAL WHERE worker = 'trending' LIMIT 1",
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
/** 24 hours, and what an entry may lie behind its last trade. */
const LOOK_BACK_SECONDS = 86_400 + 600

const COLUMNS = `at, mint, entry, event, symbol, name, first_trade_at, discovered_at, oldest_hold_at, last_trade_at, wallets, conviction,
  held_lamports, pct_held, avg_entry_mcap, current_mcap, multiple, band_min, band_max, buy_lamports, sell_lamports,
  mcap_change_pct, mcap_trend, holders_change_pct, holders_trend, volume1h, volume1h_change_pct, volume1h_trend,
  liquidity, liquidity_change_pct, liquidity_trend, state, near_evict`
