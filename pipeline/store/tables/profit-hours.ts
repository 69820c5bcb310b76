import { inserter } from '../insert-rows.ts'
import type { Store } from '../store.ts'

/** Stores rows with their `version`. The highest one of a wallet, hour and mint counts. */
export const insertProfitHours = inserter('profit_hours')

/** What one wallet did in a period. Integers of 64 bits and more are decimal strings. */
export interface PeriodRow {
  readonly wallet: number
  readonly trades: number
  readonly volume_lamports: string
  /** Tokens with a sell that has a value (rule C6). */
  readonly tokens_sold: number
  readonly profit_lamports: string
  readonly tokens_won: number
  /** The same by swaps alone (rule L6). */
  readonly strict_profit_lamports: string
  readonly strict_tokens_won: number
}

/**
 * The wallets `first` to `last`, in the hours from `from` up to and without `to` (unix seconds).
 */
export interface PeriodRange {
  readonly first: number
  readonly last: number
  readonly from: number
  readonly to: number
}

/** Returns the sums of the wallets that swapped in a period, in no order. */
export function readPeriod(store: Store, range: PeriodRange): Promise<PeriodRow[]> {
  return store.query<PeriodRow>(
    `SELECT wallet, toFloat64(sum(token_trades)) AS trades, sum(volume) AS volume_lamports,
       toUInt32(countIf(is_sold)) AS tokens_sold,
       sum(profit) AS profit_lamports, toUInt32(countIf(is_sold AND profit > 0)) AS tokens_won,
       sum(strict) AS strict_profit_lamports,
       toUInt32(countIf(is_sold AND strict > 0)) AS strict_tokens_won
     FROM (
       SELECT wallet, mint, sum(trades) AS token_trades, sum(volume_lamports) AS volume,
         sum(valued_sells) > 0 AS is_sold, sum(realized_lamports) AS profit,
         sum(strict_realized_lamports) AS strict
       FROM profit_hours FINAL
       WHERE wallet >= {first:UInt32} AND wallet <= {last:UInt32}
         AND hour >= {from:UInt32} AND hour < {to:UInt32}
       GROUP BY wallet, mint
     )
     GROUP BY wallet`,
    { ...range },
    ['trades', 'tokens_sold', 'tokens_won', 'strict_tokens_won'],
  )
}

/** Returns the number of wallets that have rows. */
export async function countWalletsWithHours(store: Store): Promise<number> {
  const [row] = await store.query<{ wallets: string }>(
    'SELECT uniqExact(wallet) AS wallets FROM profit_hours WHERE is_deleted = 0',
    {},
    ['wallets'],
  )
  return Number(row?.wallets)
}
