import { z } from 'zod'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import { coarsenFraction, PRICE_DIGITS } from '../../pipeline/domain/coarsen.ts'
import { type Fraction, fraction, nearestTo } from '../../pipeline/domain/fraction.ts'
import type { Facts } from '../../pipeline/store/tables/mints.ts'
import type { MintHoldersRow } from '../../pipeline/store/tables/positions.ts'
import type { Activity, TokenActivity } from '../../pipeline/store/tables/token-activity.ts'
import type { TokenPrice } from '../../pipeline/store/tables/token-prices.ts'
import { componentSchema } from './component-schema.ts'
import { count, decimals, mint, rawAmount, seconds, sol, time } from './fields.ts'

const TokenFacts = componentSchema('TokenFacts', 'What is known of a token.', {
  address: mint,
  decimals: decimals.nullable().describe('Decimals; null if no tracked wallet swapped the token'),
  symbol: z.string().nullable().describe('As its creator chose it; null while it is not known'),
  name: z.string().nullable().describe('As its creator chose it; null while it is not known'),
  supply: rawAmount.nullable().describe('Raw units in all, as first fetched; null until then'),
})

const TokenActivityItem = componentSchema(
  'TokenActivity',
  'Swaps of tracked wallets on a token in a span of time up to `as_of`.',
  {
    buys: count,
    sells: count,
    volume_sol: sol.min(0).describe('Values of these swaps in SOL; those without a value add none'),
    wallets: count.describe('Distinct wallets that swapped the token'),
  },
)

/** A token: facts, price, holders and activity (rule L9). */
export const TokenItem = componentSchema(
  'TokenAnswer',
  'A token: facts, price, holders and activity.',
  {
    token: TokenFacts,
    as_of: time.nullable().describe('Time of the newest stored block; null before the first one'),
    price_sol: sol
      .min(0)
      .nullable()
      .describe('SOL for one whole token; null where it is not known'),
    price_usd: z.number().min(0).nullable().describe('The same in USD at the SOL price of `as_of`'),
    price_source: z.enum(['pool', 'swap']).nullable().meta({
      description:
        "`pool`: the state of the token's pool; `swap`: the newest swap of a tracked wallet within 24 hours",
    }),
    price_age_seconds: seconds.nullable().describe('`as_of` less the time of the price'),
    market_cap_usd: z.number().min(0).nullable().describe('Supply times `price_usd`'),
    holders: count.describe('Tracked wallets that hold the token, counting swaps only'),
    holders_pct: z
      .number()
      .min(0)
      .nullable()
      .describe('What they hold, as a percentage of the supply; null while that is not known'),
    first_buy_at: time.nullable().describe('The first buy of a tracked wallet; null without one'),
    last_1h: TokenActivityItem,
    last_24h: TokenActivityItem,
  },
)
export type TokenItem = z.infer<typeof TokenItem>

/** What an answer about a token is made of. */
export interface TokenParts {
  readonly mint: string
  readonly facts: Facts
  /** Null: no tracked wallet has swapped it. */
  readonly holders: MintHoldersRow | null
  readonly activity: TokenActivity
  readonly price: TokenPrice | null
  /** USD x 10^9 for one SOL; null while it is not known. */
  readonly solUsdE9: bigint | null
  /** Unix seconds; null before the first slot. */
  readonly now: number | null
  /** Whether prices are coarsened (rule L13). */
  readonly isSalted: boolean
}

/** Renders a token. Prices are exact up to the last step (rule C20). */
export function tokenItem(parts: TokenParts): TokenItem {
  const { mint, facts, holders, activity, price, solUsdE9, now, isSalted } = parts
  const { supply } = facts
  const served = (value: Fraction) =>
    nearestTo(isSalted ? coarsenFraction(value, PRICE_DIGITS) : value)
  /** What so many raw units are worth: `solPrice` 1 in SOL, else in the currency of that price. */
  const worth = (units: bigint | null, solPrice: Fraction | null) => {
    if (price === null || units === null || solPrice === null) return null
    const { numerator, denominator } = price.price
    const lamports = units * numerator * solPrice.numerator
    return served(fraction(lamports, denominator * LAMPORTS_PER_SOL * solPrice.denominator))
  }
  const whole = holders && 10n ** BigInt(holders.decimals)
  const usd = solUsdE9 === null ? null : fraction(solUsdE9, 1_000_000_000n)
  return {
    token: {
      address: mint,
      decimals: holders?.decimals ?? null,
      symbol: facts.symbol || null,
      name: facts.name || null,
      supply: supply?.toString() ?? null,
    },
    as_of: now,
    price_sol: worth(whole, fraction(1n)),
    price_usd: worth(whole, usd),
    price_source: price?.source ?? null,
    price_age_seconds: price === null || now === null ? null : now - price.time,
    market_cap_usd: worth(supply, usd),
    holders: Number(holders?.holders ?? 0),
    holders_pct: supply ? nearestNumber(100n * BigInt(holders?.held_amount ?? 0), supply) : null,
    first_buy_at: holders?.first_buy_time ?? null,
    last_1h: activityItem(activity.hour),
    last_24h: activityItem(activity.day),
  }
}

function activityItem({ buys, sells, volumeLamports, wallets }: Activity) {
  return { buys, sells, volume_sol: nearestNumber(volumeLamports, LAMPORTS_PER_SOL), wallets }
}
