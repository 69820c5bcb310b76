import {
  compareFractions,
  type Fraction,
  fraction,
  sumFractions,
  ZERO,
} from '../domain/fraction.ts'
import { E18 } from './figures.ts'
import { entryPrice, type HolderSums } from './holder.ts'
import type { ExactToken } from './watched-token.ts'

/** Figures of a token that depend on its holders and its supply alone. */
export interface HolderFigures
  extends Pick<
    ExactToken,
    | 'wallets'
    | 'walletsHolding'
    | 'oldestHoldAt'
    | 'heldLamports'
    | 'pctHeld'
    | 'avgEntryMcap'
    | 'bandMin'
    | 'bandMax'
  > {
  /** Raw units that the holders hold and have bought, by their swaps. */
  readonly held: bigint
  readonly bought: bigint
}

/** Returns the figures of the wallets that hold the token, in any order (rule G2). */
export function holderFigures(holding: Iterable<HolderSums>, supply: bigint | null): HolderFigures {
  const holders = [...holding].sort((a, b) => a.wallet - b.wallet)
  let oldestHoldAt: number | null = null
  let heldLamports = 0n
  let bought = 0n
  let held = 0n
  for (const holder of holders) {
    const { firstTradeAt } = holder
    if (firstTradeAt !== null && (oldestHoldAt === null || firstTradeAt < oldestHoldAt))
      oldestHoldAt = firstTradeAt
    heldLamports += holder.openCost
    bought += holder.bought
    held += holder.bought - holder.sold
  }
  return {
    wallets: holders.map(({ wallet }) => wallet),
    walletsHolding: holders.length,
    oldestHoldAt,
    heldLamports,
    held,
    bought,
    pctHeld: bought === 0n ? ZERO : fraction(held, bought),
    ...entryFigures(holders, supply),
  }
}

/** Mean, lowest and highest of the known entry market caps, the mean weighted by SOL spent. */
function entryFigures(holders: readonly HolderSums[], supply: bigint | null) {
  const weighted: Fraction[] = []
  let weight = 0n
  let lowest: Fraction | null = null
  let highest: Fraction | null = null
  for (const holder of supply === null ? [] : holders) {
    const price = entryPrice(holder)
    if (price === null) continue
    const spent = holder.boughtLamports
    weighted.push({ numerator: price.numerator * spent, denominator: price.denominator })
    weight += spent
    if (lowest === null || compareFractions(price, lowest) < 0) lowest = price
    if (highest === null || compareFractions(price, highest) > 0) highest = price
  }
  const mcapOf = (price: Fraction | null, times = 1n) =>
    price === null || supply === null
      ? null
      : fraction(price.numerator * supply, price.denominator * times * E18)
  return {
    avgEntryMcap: weight === 0n ? null : mcapOf(sumFractions(weighted), weight),
    bandMin: mcapOf(lowest),
    bandMax: mcapOf(highest),
  }
}
