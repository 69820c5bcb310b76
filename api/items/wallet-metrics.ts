import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import type { WalletMetricsRow } from '../../pipeline/store/tables/wallet-metrics.ts'
import { alias, count, sol, time } from './fields.ts'

const average = z.number().nullable()

/** A wallet with its metrics, as customers see it (contract 2.5). */
export const WalletMetricsItem = z
  .strictObject({
    identity: z.strictObject({
      wallet: alias,
      tracked: z.boolean(),
      score: z.number().min(0).max(100).nullable().meta({
        description: 'Quality from 0 to 100, at most two decimals; null if `status` is `review`',
      }),
      status: z.enum(['scored', 'review', 'disqualified']).meta({
        description:
          '`disqualified`: less than 10 SOL, or `winrate` under 35 and a loss; else `review`: fewer than 50 or more than 1000 trades; else `scored`',
      }),
    }),
    pnl: z.strictObject({
      sol_balance: sol.nullable().describe('SOL balance of the wallet; null while unknown'),
      pnl_sol: sol.describe(
        'Realised FIFO profit over all tokens: (sell price - lot price) x quantity',
      ),
      sol_bought: sol.describe('SOL spent on buys'),
      sol_sold: sol.describe('SOL received on sells'),
      sol_invested_open: sol.describe('Cost of all unsold FIFO lots'),
      unrealized_token_count: count.describe('Tokens with open lots'),
    }),
    activity: z.strictObject({
      total_trades: count.describe('`buys` + `sells`'),
      buys: count.describe('Buy swaps'),
      sells: count.describe('Sell swaps'),
      transfers_in: count.describe('Token transfers received'),
      transfers_out: count.describe('Token transfers sent'),
      sol_received: sol.describe('SOL received by transfers'),
      sol_sent: sol.describe('SOL sent by transfers'),
      unique_tokens_traded: count.describe('Tokens swapped'),
    }),
    behavior: z.strictObject({
      winrate: average.describe(
        'Percent (0 to 100) of tokens with realised profit above zero, among tokens with a sell of known value; null if there is none',
      ),
      loserate: average.describe('Like `winrate`, with realised profit below zero'),
      avg_holding_time: average.describe(
        'Mean seconds from the purchase of a lot to the sell matched with it; null without a sell',
      ),
      avg_time_to_almost_full_exit: average.describe(
        'Mean seconds from the first buy of a token until 90% of the bought amount was sold; null if there is none',
      ),
      avg_buy_amount: average.describe('`sol_bought` / `buys`; null without a buy'),
      avg_sell_amount: average.describe('`sol_sold` / `sells`; null without a sell'),
      quick_sells: count.describe('Buys of which at least half was sold within 15 s'),
      sold_more_than_bought: count.describe('Tokens of which the wallet sold more than it bought'),
      active_times: z
        .array(
          z.strictObject({
            hour_utc: z.int().min(0).max(23).describe('Hour of the day, UTC'),
            tx_count: count.describe('Distinct transactions in that hour, over all days'),
          }),
        )
        .max(3)
        .meta({ description: 'The three UTC hours with the most transactions, the busiest first' }),
    }),
    computed_at: time.describe('Unix seconds of the last computation; 0 without events'),
  })
  .meta({
    id: 'WalletMetrics',
    description:
      'A tracked wallet with its metrics. Metrics count swaps and transfers: a token received by transfer enters FIFO at zero cost, and a token sent leaves it without profit. USDC and USDT are converted at the SOL price of each swap.',
  })
export type WalletMetricsItem = z.infer<typeof WalletMetricsItem>

/** Example of a wallet for the documents. */
export const EXAMPLE_WALLET: WalletMetricsItem = {
  identity: { wallet: 'W12', tracked: true, score: 67.25, status: 'scored' },
  pnl: {
    sol_balance: 31.5,
    pnl_sol: 12.75,
    sol_bought: 140,
    sol_sold: 151.2,
    sol_invested_open: 8.4,
    unrealized_token_count: 3,
  },
  activity: {
    total_trades: 220,
    buys: 120,
    sells: 100,
    transfers_in: 4,
    transfers_out: 1,
    sol_received: 10,
    sol_sent: 2.5,
    unique_tokens_traded: 48,
  },
  behavior: {
    winrate: 62.5,
    loserate: 37.5,
    avg_holding_time: 5400.5,
    avg_time_to_almost_full_exit: 7200,
    avg_buy_amount: 1.1666666666666667,
    avg_sell_amount: 1.512,
    quick_sells: 2,
    sold_more_than_bought: 1,
    active_times: [{ hour_utc: 14, tx_count: 80 }],
  },
  computed_at: 1790003600,
}

/**
 * Renders exact sums and counts as JSON numbers, each the double nearest to the exact value. A mean
 * without a divisor is null (rules C20, C21).
 */
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

function inSol(lamports: string): number {
  return nearestNumber(BigInt(lamports), LAMPORTS_PER_SOL)
}

function mean(sum: bigint, count: string, unit = 1n): number | null {
  return count === '0' ? null : nearestNumber(sum, BigInt(count) * unit)
}
