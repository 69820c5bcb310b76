import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import type { HeldPositionRow } from '../../pipeline/store/tables/positions.ts'
import { alias, heldFraction, seconds, sol, time, tokens } from './fields.ts'
import { Token } from './held-token.ts'
import { fractionHeld } from './wallet-aggregate.ts'

const Timing = z
  .strictObject({
    first_activity_at: time.describe("Time of the wallet's first trade of the token"),
    last_activity_at: time.describe('Time of its newest trade of the token'),
    holding_time: seconds.describe(
      'Seconds from `first_activity_at` to the newest stored block (`GET /status`)',
    ),
  })
  .meta({ id: 'HoldingTiming', description: 'When the wallet traded the token, in unix seconds.' })

const acquired = tokens.describe('Tokens bought, divided by 10^decimals')
const held = tokens.describe('Tokens bought less tokens sold, without transfers')

/** A token that a wallet holds, as `GET /wallets/holdings` lists it (contract 2.6). */
export const HoldingItem = z
  .strictObject({
    wallet: alias,
    token: Token,
    position: z.strictObject({
      sol_bought: sol.describe('SOL that the wallet spent on the token'),
      sol_sold: sol.describe('SOL that the wallet received for the token'),
      tokens_acquired: acquired,
      tokens_sold: tokens.describe('Tokens sold, divided by 10^decimals'),
      tokens_held: held,
      pct_held: heldFraction.describe('`tokens_held` / `tokens_acquired`, a fraction'),
    }),
    timing: Timing,
  })
  .meta({ id: 'Holding', description: 'A token that a tracked wallet holds, counting swaps only.' })
export type HoldingItem = z.infer<typeof HoldingItem>

/** A token that a wallet holds, as `GET /wallets/{alias}/holdings` lists it (contract 2.6). */
export const WalletHoldingItem = z
  .strictObject({
    token: Token,
    position: z.strictObject({
      balance: tokens.describe('Tokens held; the same as `tokens_held`'),
      tokens_acquired: acquired,
      tokens_held: held,
      sol_invested: sol.describe('SOL that the wallet spent on the token'),
    }),
    timing: Timing,
  })
  .meta({ id: 'WalletHolding', description: 'A token that the wallet holds, counting swaps only.' })
export type WalletHoldingItem = z.infer<typeof WalletHoldingItem>

/** Renders a holding as of block time `now`; fields in the contract's order. */
export function holdingItem(row: HeldPositionRow, now: number): HoldingItem {
  const unit = 10n ** BigInt(row.decimals)
  const bought = BigInt(row.bought_amount)
  const sold = BigInt(row.sold_amount)
  return {
    wallet: aliasOf(row.wallet),
    token: { address: row.mint, decimals: row.decimals },
    position: {
      sol_bought: nearestNumber(BigInt(row.bought_lamports), LAMPORTS_PER_SOL),
      sol_sold: nearestNumber(BigInt(row.sold_lamports), LAMPORTS_PER_SOL),
      tokens_acquired: nearestNumber(bought, unit),
      tokens_sold: nearestNumber(sold, unit),
      tokens_held: nearestNumber(bought - sold, unit),
      pct_held: fractionHeld(bought, bought - sold),
    },
    timing: timing(row, now),
  }
}

/**
 * Renders a holding of a wallet that the response names once, as of block time `now`; fields in the
 * contract's order.
 */
export function walletHoldingItem(row: HeldPositionRow, now: number): WalletHoldingItem {
  const unit = 10n ** BigInt(row.decimals)
  const bought = BigInt(row.bought_amount)
  const balance = nearestNumber(bought - BigInt(row.sold_amount), unit)
  return {
    token: { address: row.mint, decimals: row.decimals },
    position: {
      balance,
      tokens_acquired: nearestNumber(bought, unit),
      tokens_held: balance,
      sol_invested: nearestNumber(BigInt(row.bought_lamports), LAMPORTS_PER_SOL),
    },
    timing: timing(row, now),
  }
}

function timing(row: HeldPositionRow, now: number): z.infer<typeof Timing> {
  return {
    first_activity_at: row.first_trade_time,
    last_activity_at: row.last_trade_time,
    holding_time: now - row.first_trade_time,
  }
}
