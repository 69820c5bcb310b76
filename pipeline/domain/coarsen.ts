import { type Fraction, fraction } from './fraction.ts'

/**
 * Rounds an integer to its leading significant decimal digits, half away from zero. Figures with no
 * more digits than that, including 0, are unchanged.
 *
 * With `PRIVACY_SALT`, balances and sums are served this way (rule I2a): unlike noise, rounding
 * cannot be averaged out. The analyst's views do the same in SQL
 * (`sql/0141_analyst_served_events.sql`).
 *
 * @example coarsen(12_549_000_000n) // 13_000_000_000n
 */
export function coarsen(value: bigint, digits = 2): bigint {
  const magnitude = value < 0n ? -value : value
  const surplus = magnitude.toString().length - digits
  if (surplus <= 0) return value
  const step = 10n ** BigInt(surplus)
  const rounded = ((magnitude + step / 2n) / step) * step
  return value < 0n ? -rounded : rounded
}

/** Coarsens a fraction that is 0 or more, as `coarsen` does. */
export function coarsenFraction({ numerator, denominator }: Fraction, digits: number): Fraction {
  const missing = digits + String(denominator).length - String(numerator).length
  // As many decimals leave more than `digits` digits, so what is cut off decides nothing.
  const scale = 10n ** BigInt(Math.max(0, missing + 1))
  return fraction(coarsen((numerator * scale) / denominator, digits), scale)
}

/** Coarsens a safe integer to two digits, as `coarsen` does. */
export function coarsenNumber(value: number): number {
  return Number(coarsen(BigInt(value)))
}

/**
 * Significant digits of a SOL price that is served with a trade. The whole price would reveal the
 * second of the trade.
 */
export const PRICE_DIGITS = 3
