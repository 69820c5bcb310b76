import { inserter } from '../insert-rows.ts'
import type { Store } from '../store.ts'
import type { EventKeyRow } from './event-rows.ts'

/** Stores rows with their `version`. The highest one of a wallet counts. */
export const insertMetrics = inserter('wallet_metrics')

/** Subquery: the versions of `{wallets:Array(UInt32)}`, in the columns of `readRevisions`. */
export const METRICS_VERSIONS =
  'SELECT wallet, version, 0, 0 FROM wallet_metrics WHERE wallet IN {wallets:Array(UInt32)}'

/**
 * A row of table `wallet_metrics`: integers of 64 bits and more as decimal
 * strings.
 */
export interface WalletMetricsRow {
  readonly wallet: number
  readonly status: 'scored' | 'review' | 'disqualified'
  readonly score_e2: number | null
  readonly sol_balance_lamports: string | null
  readonly pnl_lamports: string
  readonly bought_lamports: string
  readonly sold_lamports: string
  readonly invested_open_lamports: string
  readonly unrealized_token_count: string
  readonly buys: string
  readonly sells: string
  readonly transfers_in: string
  readonly transfers_out: string
  readonly received_lamports: string
  readonly sent_lamports: string
  readonly unique_tokens_traded: string
  readonly tokens_won: string
  readonly tokens_lost: string
  readonly tokens_sold_valued: string
  readonly holding_seconds_sum: string
  readonly holding_matches: string
  readonly exit_seconds_sum: string
  readonly exit_tokens: string
  readonly quick_sells: string
  readonly sold_more_than_bought: string
  readonly active_times: readonly { readonly hour_utc: number; readonly tx_count: string }[]
  readonly computed_at: number
}

/** A row and its version. */
export type StoredMetricsRow = WalletMetricsRow & { readonly version: string }

/** Returns the newest rows of wallets from `from` to `to`, at most 1000. */
export function readMetrics(store: Store, from: number, to: number): Promise<StoredMetricsRow[]> {
  return store.query<StoredMetricsRow>(
    `SELECT wallet, status, score_e2, sol_balance_lamports, pnl_lamports, bought_lamports, sold_lamports, invested_open_lamports,
       unrealized_token_count, buys, sells, transfers_in, transfers_out, received_lamports, sent_lamports, unique_tokens_traded,
       tokens_won, tokens_lost, tokens_sold_valued, holding_seconds_sum, holding_matches, exit_seconds_sum, exit_tokens, quick_sells,
       sold_more_than_bought, active_times, computed_at, version
     FROM wallet_metrics FINAL WHERE wallet BETWEEN {from:UInt32} AND {to:UInt32} LIMIT 1000 SETTINGS max_threads = 1`,
    { from, to },
  )
}

/** The newest event that a wallet's books include, and their version. */
export interface MetricsPlaceRow extends EventKeyRow {
  readonly events: string
  readonly version: string
}

/** Returns how far the books of at most 1000 wallets are, by wallet. */
export async function readMetricsPlaces(store: Store, wallets: readonly number[]) {
  const rows = await store.query<MetricsPlaceRow>(
    `SELECT wallet, events, slot, tx_index, event_index, version FROM wallet_metrics FINAL
     WHERE wallet IN {wallets:Array(UInt32)} LIMIT 1000`,
    { wallets },
  )
  return new Map(rows.map((row) => [row.wallet, row]))
}

/** Returns the wallets with an event or a balance, ascending. */
export async function findActiveWallets(store: Store): Promise<number[]> {
  const rows = await store.query<{ wallet: number }>(
    `SELECT DISTINCT wallet FROM wallet_metrics WHERE events > 0 OR sol_balance_lamports IS NOT NULL
     ORDER BY wallet LIMIT 10000000`,
  )
  return rows.map(({ wallet }) => wallet)
}
