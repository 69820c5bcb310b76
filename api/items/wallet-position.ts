import { z } from 'zod'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import { coarsen, coarsenFraction, PRICE_DIGITS } from '../../pipeline/domain/coarsen.ts'
import { type Fraction, fraction, nearestTo } from '../../pipeline/domain/fraction.ts'
import type { WalletPosition } from '../../pipeline/fold/wallet-positions.ts'
import type { Facts } from '../../pipeline/store/tables/mints.ts'
import type { TokenPrice } from '../../pipeline/store/tables/token-prices.ts'
import { count, decimals, mint, rawAmount, seconds, sol, swapValue, time } from './fields.ts'

/** A wallet's position in one token, valued at the newest stored block (rule L7). */
export const WalletPositionItem = z
  .strictObject({
    token: z.strictObject({
      address: mint,
      decimals,
      symbol: swapValue.symbol,
      name: z
        .string()
        .nullable()
        .describe('Name as its creator chose it; null while it is not known'),
    }),
    status: z.enum(['open', 'closed']).describe('`open` while the wallet holds some of it'),
    amount: rawAmount.describe('Raw tokens held; divide by 10^`decimals`'),
    cost_sol: sol.min(0).describe('What the held tokens cost, oldest bought sold first'),
    avg_cost_sol: sol
      .min(0)
      .nullable()
      .describe('`cost_sol` for one whole token; null when closed'),
    realized_sol: sol.describe(
      'Profit of all sells: what they gave less what the sold tokens cost',
    ),
    price_sol: sol
      .min(0)
      .nullable()
      .describe('SOL for one whole token now; null when closed, and where no price is known'),
    price_source: z.enum(['pool', 'swap']).nullable().meta({
      description:
        '`pool`: the pool of a token on the watchlist; `swap`: the newest swap of another tracked wallet within 24 hours',
    }),
    price_age_seconds: seconds.nullable().describe('Age of the price at `as_of`'),
    value_sol: sol.min(0).nullable().describe('`amount` at that price; null where `price_sol` is'),
    unrealized_sol: sol.nullable().describe('`value_sol` - `cost_sol`; null where `price_sol` is'),
    bought_sol: sol.min(0).describe('SOL paid in buys'),
    sold_sol: sol.min(0).describe('SOL received in sells'),
    buys: count.describe('Buy swaps'),
    sells: count.describe('Sell swaps'),
    return_pct: z.number().nullable().meta({
      description:
        'Profit in percent of `bought_sol`: `realized_sol`, and while open `unrealized_sol` too. Null for an open position without a price, and where `bought_sol` is 0',
    }),
    holding_seconds: seconds.nullable().meta({
      description:
        'From the first swap to `as_of`, or to the last swap when closed; null without a swap',
    }),
    first_trade_at: time.nullable().describe('Time of the first swap; null for transfers alone'),
    last_trade_at: time.nullable().describe('Time of the last swap; null for transfers alone'),
  })
  .meta({ id: 'WalletPosition', description: 'What a tracked wallet made of one token.' })
export type WalletPositionItem = z.infer<typeof WalletPositionItem>

/** Returns what an amount of raw units is worth: lamports, rounded down (rule L7). */
export function lamportsAt(amount: bigint, { numerator, denominator }: Fraction): bigint {
  return (amount * numerator) / denominator
}

/** Renders a position as of block time `now`; with a salt coarsened (rule L13). */
export function walletPositionItem(
  position: WalletPosition,
  facts: Pick<Facts, 'symbol' | 'name'> | undefined,
  priced: TokenPrice | null,
  { now, isSalted }: { readonly now: number; readonly isSalted: boolean },
): WalletPositionItem {
  const { amount, firstTradeTime: first, lastTradeTime: last } = position
  const isOpen = amount > 0n
  const price = isOpen ? priced : null
  const sum = (lamports: bigint) => (isSalted ? coarsen(lamports) : lamports)
  const inSol = (lamports: bigint) => nearestNumber(lamports, LAMPORTS_PER_SOL)
  const forOne = ({ numerator, denominator }: Fraction) => {
    const whole = 10n ** BigInt(position.decimals)
    const exact = fraction(numerator * whole, denominator * LAMPORTS_PER_SOL)
    return nearestTo(isSalted ? coarsenFraction(exact, PRICE_DIGITS) : exact)
  }
  const cost = sum(position.cost)
  const realized = sum(position.realized)
  const bought = sum(position.boughtLamports)
  const value = price && sum(lamportsAt(amount, price.price))
  const unrealized = value === null ? null : sum(value - cost)
  const open = isOpen ? unrealized : 0n
  const profit = open === null ? null : realized + open
  return {
    token: {
      address: position.mint,
      decimals: position.decimals,
      symbol: facts?.symbol || null,
      name: facts?.name || null,
    },
    status: isOpen ? 'open' : 'closed',
    amount: String(isSalted ? coarsen(amount, PRICE_DIGITS) : amount),
    cost_sol: inSol(cost),
    avg_cost_sol: isOpen ? forOne(fraction(position.cost, amount)) : null,
    realized_sol: inSol(realized),
    price_sol: price && forOne(price.price),
    price_source: price?.source ?? null,
    price_age_seconds: price && now - price.time,
    value_sol: value === null ? null : inSol(value),
    unrealized_sol: unrealized === null ? null : inSol(unrealized),
    bought_sol: inSol(bought),
    sold_sol: inSol(sum(position.soldLamports)),
    buys: position.buys,
    sells: position.sells,
    return_pct: profit === null || bought === 0n ? null : nearestNumber(100n * profit, bought),
    holding_seconds: first === null ? null : (isOpen ? now : (last ?? now)) - first,
    first_trade_at: first,
    last_trade_at: last,
  }
}
