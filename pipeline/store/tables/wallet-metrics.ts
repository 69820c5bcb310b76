import { inserter } from '../insert-rows.ts'
import type { Row, Store } from '../store.ts'
import type { EventKeyRow } from './event-rows.ts'

/** Stores rows with their `version`. The highest one of a wallet counts. */
export const insertMetrics = inserter('wallet_metrics')

/** Subquery: the versions of `{wallets:Array(UInt32)}`, in the columns of `readRevisions`. */
export const METRICS_VERSIONS =
  'SELECT wallet, version, revision, 0, 0 FROM wallet_metrics WHERE wallet IN {wallets:Array(UInt32)}'

/** The row of a wallet without events. It has the columns that are served. */
export const EMPTY_METRICS = {
  wallet: 0,
  status: 'review' as 'scored' | 'review' | 'disqualified',
  score_e2: null as number | null,
  sol_balance_lamports: null as string | null,
  pnl_lamports: '0',
  bought_lamports: '0',
  sold_lamports: '0',
  invested_open_lamports: '0',
  unrealized_token_count: '0',
  buys: '0',
  sells: '0',
  transfers_in: '0',
  transfers_out: '0',
  received_lamports: '0',
  sent_lamports: '0',
  unique_tokens_traded: '0',
  tokens_won: '0',
  tokens_lost: '0',
  tokens_sold_valued: '0',
  holding_seconds_sum: '0',
  holding_matches: '0',
  exit_seconds_sum: '0',
  exit_tokens: '0',
  quick_sells: '0',
  sold_more_than_bought: '0',
  active_times: [] as readonly { readonly hour_utc: number; readonly tx_count: string }[],
  computed_at: 0,
}

/** A row of table `wallet_metrics`. Integers of 64 bits and more are decimal strings. */
export type WalletMetricsRow = Readonly<typeof EMPTY_METRICS>

/** The columns of `StoredMetricsRow`. */
export const METRICS_COLUMNS = `${Object.keys(EMPTY_METRICS).join(', ')}, version`

/** A row and its version. */
export type StoredMetricsRow = WalletMetricsRow & { readonly version: string }

/** Returns a row to insert in the form in which it is read. */
export function storedMetricsOf(row: Row): StoredMetricsRow {
  const stored: Record<string, unknown> = { ...EMPTY_METRICS, version: String(row.version ?? 0) }
  for (const [name, empty] of Object.entries(EMPTY_METRICS)) {
    const value = row[name] ?? empty
    const isText = typeof empty === 'string' || typeof value === 'bigint'
    stored[name] = isText ? String(value) : value
  }
  const active = (row.active_times ?? []) as readonly { hour_utc: number; tx_count: unknown }[]
  stored.active_times = active.map(({ hour_utc, tx_count }) => ({
    hour_utc,
    tx_count: String(tx_count),
  }))
  return stored as never // of the columns' types
}

/** Returns the newest rows of wallets from `from` to `to`, at most 1000. */
export function readMetrics(store: Store, from: number, to: number): Promise<StoredMetricsRow[]> {
  return store.query<StoredMetricsRow>(
    `SELECT ${METRICS_COLUMNS}
     FROM wallet_metrics FINAL WHERE wallet BETWEEN {from:UInt32} AND {to:UInt32} LIMIT 1000 SETTINGS max_threads = 1`,
    { from, to },
  )
}

/** The newest event that a wallet's books include, and how often they were made again. */
export interface MetricsPlaceRow extends EventKeyRow {
  readonly events: string
  readonly revision: number
}

/** Returns how far the books of at most 1000 wallets are, by wallet. */
export async function readMetricsPlaces(store: Store, wallets: readonly number[]) {
  const rows = await store.query<MetricsPlaceRow>(
    `SELECT wallet, events, slot, tx_index, event_index, revision FROM wallet_metrics FINAL
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
