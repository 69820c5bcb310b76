import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'

const count = z.int().min(0)
const sol = z.number()
const average = z.number().nullable()

/** A wallet with its metrics as the public sees it (contract 2.5). */
export const WalletMetricsItem = z.strictObject({
  identity: z.strictObject({
    wallet: z.string().meta({ description: 'Alias' }),
    tracked: z.boolean(),
    score: z.number().min(0).max(100).nullable().meta({ description: 'Null when in review' }),
    status: z.enum(['scored', 'review', 'disqualified']),
  }),
  pnl: z.strictObject({
    sol_balance: sol.nullable().meta({ description: 'Null if not known' }),
    pnl_sol: sol,
    sol_bought: sol,
    sol_sold: sol,
    sol_invested_open: sol,
    unrealized_token_count: count,
  }),
  activity: z.strictObject({
    total_trades: count,
    buys: count,
    sells: count,
    transfers_in: count,
    transfers_out: count,
    sol_received: sol,
    sol_sent: sol,
    unique_tokens_traded: count,
  }),
  behavior: z.strictObject({
    winrate: average.meta({ description: 'Percent of sold tokens that closed in profit' }),
    loserate: average,
    avg_holding_time: average.meta({ description: 'Seconds' }),
    avg_time_to_almost_full_exit: average.meta({ description: 'Seconds' }),
    avg_buy_amount: average.meta({ description: 'SOL' }),
    avg_sell_amount: average.meta({ description: 'SOL' }),
    quick_sells: count,
    sold_more_than_bought: count,
    active_times: z
      .array(z.strictObject({ hour_utc: z.int().min(0).max(23), tx_count: count }))
      .max(3),
  }),
  computed_at: count.meta({ description: 'Unix seconds of the last recomputation; 0 for none' }),
})
export type WalletMetricsItem = z.infer<typeof WalletMetricsItem>

/** A row of table `wallet_metrics` as the store gives it: integers of 64 bits and more as decimal strings. */
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

/** Renders exact sums and counts as figures, each the double nearest to the exact value; means without anything to divide by are null (decisions C20, C21). */
export function walletMetricsItem(row: WalletMetricsRow): WalletMetricsItem {
  return {
    identity: {
      wallet: aliasOf(row.wallet),
      tracked: true,
      score: row.score_e2 === null ? null : row.score_e2 / 100,
      status: row.status,
    },
    pnl: {
      sol_balance: row.sol_balance_lamports === null ? null : inSol(row.sol_balance_lamports),
      pnl_sol: inSol(row.pnl_lamports),
      sol_bought: inSol(row.bought_lamports),
      sol_sold: inSol(row.sold_lamports),
      sol_invested_open: inSol(row.invested_open_lamports),
      unrealized_token_count: Number(row.unrealized_token_count),
    },
    activity: {
      total_trades: Number(row.buys) + Number(row.sells),
      buys: Number(row.buys),
      sells: Number(row.sells),
      transfers_in: Number(row.transfers_in),
      transfers_out: Number(row.transfers_out),
      sol_received: inSol(row.received_lamports),
      sol_sent: inSol(row.sent_lamports),
      unique_tokens_traded: Number(row.unique_tokens_traded),
    },
    behavior: {
      winrate: mean(BigInt(row.tokens_won) * 100n, row.tokens_sold_valued),
      loserate: mean(BigInt(row.tokens_lost) * 100n, row.tokens_sold_valued),
      avg_holding_time: mean(BigInt(row.holding_seconds_sum), row.holding_matches),
      avg_time_to_almost_full_exit: mean(BigInt(row.exit_seconds_sum), row.exit_tokens),
      avg_buy_amount: mean(BigInt(row.bought_lamports), row.buys, LAMPORTS_PER_SOL),
      avg_sell_amount: mean(BigInt(row.sold_lamports), row.sells, LAMPORTS_PER_SOL),
      quick_sells: Number(row.quick_sells),
      sold_more_than_bought: Number(row.sold_more_than_bought),
      active_times: row.active_times.map(({ hour_utc, tx_count }) => ({
        hour_utc,
        tx_count: Number(tx_count),
      })),
    },
    computed_at: row.computed_at,
  }
}

/** A wallet of which nothing has been stored yet (decisions C21). */
export function emptyMetricsRow(wallet: number): WalletMetricsRow {
  return {
    wallet,
    status: 'review',
    score_e2: null,
    sol_balance_lamports: null,
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
    active_times: [],
    computed_at: 0,
  }
}

function inSol(lamports: string): number {
  return nearestNumber(BigInt(lamports), LAMPORTS_PER_SOL)
}

function mean(sum: bigint, count: string, unit = 1n): number | null {
  return count === '0' ? null : nearestNumber(sum, BigInt(count) * unit)
}
