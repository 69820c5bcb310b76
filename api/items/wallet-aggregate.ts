import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import type { TradedPositionRow } from '../../pipeline/store/tables/positions.ts'
import { alias, count, heldFraction, rawAmount, signedRawAmount, sol, time } from './fields.ts'

/**
 * The swaps of one wallet on one token, summed (contract 2.3). Transfers do not count (rule C14).
 */
export const WalletAggregateItem = z
  .strictObject({
    wallet: alias,
    alias: alias.describe('Same as `wallet`'),
    buys: count.describe('Buy swaps'),
    sells: count.describe('Sell swaps'),
    base_bought: rawAmount.describe('Raw tokens bought'),
    base_sold: rawAmount.describe('Raw tokens sold'),
    base_net: signedRawAmount.describe(
      '`base_bought` - `base_sold`; negative if more was sold than bought (the rest came by transfer)',
    ),
    sol_in: sol.describe(
      'SOL spent on buys; USDC and USDT converted at the SOL price of each swap',
    ),
    sol_out: sol.describe('SOL received for sells'),
    pct_held: heldFraction.describe(
      '`base_net` / `base_bought` as a fraction from 0 to 1; 0 if nothing was bought',
    ),
    first_buy_time: time.nullable().meta({
      description: 'Time of the first buy, unix seconds; null for a wallet that only sold',
    }),
    last_trade_time: time.describe('Time of the newest swap, in unix seconds'),
    entry_mcap: z.number().min(0).nullable().meta({
      description:
        "Market cap in USD at the wallet's first buy; null while the supply is unknown, and if that buy has no value in SOL",
    }),
  })
  .meta({
    id: 'WalletAggregate',
    description: 'Swaps of one tracked wallet on one token, summed.',
  })
export type WalletAggregateItem = z.infer<typeof WalletAggregateItem>

/** Renders an aggregate; fields in the contract's order. */
export function walletAggregateItem(row: TradedPositionRow): WalletAggregateItem {
  const bought = BigInt(row.bought_amount)
  const net = bought - BigInt(row.sold_amount)
  const alias = aliasOf(row.wallet)
  return {
    wallet: alias,
    alias,
    buys: Number(row.buys),
    sells: Number(row.sells),
    base_bought: row.bought_amount,
    base_sold: row.sold_amount,
    base_net: net.toString(),
    sol_in: nearestNumber(BigInt(row.bought_lamports), LAMPORTS_PER_SOL),
    sol_out: nearestNumber(BigInt(row.sold_lamports), LAMPORTS_PER_SOL),
    pct_held: fractionHeld(bought, net),
    first_buy_time: row.first_buy_time,
    last_trade_time: row.last_trade_time,
    entry_mcap: entryMcap(row),
  }
}

/** The fraction of the bought amount that the wallet still holds, from 0 to 1 (rule C14). */
export function fractionHeld(bought: bigint, held: bigint): number {
  return bought === 0n || held < 0n ? 0 : nearestNumber(held, bought)
}

/**
 * Returns the market cap at the first buy in USD: supply x price of that buy (rule C15). Null if
 * either is unknown.
 */
function entryMcap(row: TradedPositionRow): number | null {
  const { first_value_lamports: value, first_sol_price_usd_e9: price, supply } = row
  const amount = BigInt(row.first_amount)
  if (amount === 0n || value === null || price === null || supply === null) return null
  return nearestNumber(BigInt(supply) * BigInt(value) * BigInt(price), amount * 10n ** 18n)
}
