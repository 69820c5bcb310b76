import { inserter } from '../insert-rows.ts'
import type { Store } from '../store.ts'

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
  /** `current_mcap` as a fraction (`parseFraction`); '' if unknown, and in rows of old versions. */
  readonly exact_mcap: string
  readonly multiple: number | null
  readonly band_min: number | null
  readonly band_max: number | null
  readonly buy_lamports: string
  readonly sell_lamports: string
  readonly mcap_change_pct: number | null
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

/** Stores rows. Each is a token as it was from one tick on; a row written again is the same. */
export const insertWatchlist = inserter('watchlist')

/**
 * Returns the list as of tick `at`, which may be in the past: by conviction descending, then mint.
 * A listed token was traded within 24 hours, and each trade makes a row, so rows older than
 * `LOOK_BACK_SECONDS` are not read.
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

/**
 * Returns the rows after tick `afterAt`, up to and including tick `throughAt`, by `(at, mint)`:
 * also rows of event `left`.
 */
export async function readWatchlistChanges(store: Store, afterAt: number, throughAt: number) {
  if (afterAt >= throughAt) return []
  return store.query<WatchlistRow>(
    `SELECT ${COLUMNS} FROM watchlist FINAL
     WHERE at > {afterAt:UInt32} AND at <= {throughAt:UInt32} ORDER BY at, mint LIMIT ${MOST_ROWS}`,
    { afterAt, throughAt },
  )
}

/** A token's figures when it left the list. */
export type LeftToken = Pick<
  WatchlistRow,
  'mint' | 'symbol' | 'name' | 'current_mcap' | 'exact_mcap'
>

/** Returns tokens as of when they last left the list between two ticks, by mint. */
export async function readLeftTokens(
  store: Store,
  mints: readonly string[],
  afterAt: number,
  throughAt: number,
): Promise<ReadonlyMap<string, LeftToken>> {
  if (mints.length === 0) return new Map()
  const rows = await store.query<LeftToken>(
    `SELECT mint, symbol, name, current_mcap, exact_mcap FROM watchlist
     WHERE event = 'left' AND at > {afterAt:UInt32} AND at <= {throughAt:UInt32} AND mint IN {mints:Array(String)}
     ORDER BY at DESC LIMIT 1 BY mint`,
    { mints, afterAt, throughAt },
  )
  return new Map(rows.map((row) => [row.mint, row]))
}

/** Bounds a query; never reached. */
const MOST_ROWS = 1_000_000
/**
 * The newest row of a listed token is at most this old: 24 hours without a trade, and the seconds
 * of a tick and of the salt.
 */
const LOOK_BACK_SECONDS = 86_400 + 600

const COLUMNS = `at, mint, entry, event, symbol, name, first_trade_at, discovered_at, oldest_hold_at, last_trade_at, wallets, conviction,
  held_lamports, pct_held, avg_entry_mcap, current_mcap, exact_mcap, multiple, band_min, band_max, buy_lamports, sell_lamports,
  if(is_mcap_change_known, watchlist.mcap_change_pct, NULL) AS mcap_change_pct, mcap_trend, holders_change_pct, holders_trend, volume1h, volume1h_change_pct, volume1h_trend,
  liquidity, liquidity_change_pct, liquidity_trend, state, near_evict, reasons`
