/**
 * Rounds an exact integer to its leading significant decimal digits, half away from zero. Figures
 * that have no more digits, 0 among them, stay as they are.
 *
 * With `PRIVACY_SALT` this is how balances and sums are served (rule I2a): unlike noise, it
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

/** `coarsen` of a safe integer. */
export function coarsenNumber(value: number): number {
  return Number(coarsen(BigInt(value)))
}

/**
 * Significant digits of a SOL price that is served with a trade: the whole price would tell the
 * second of the trade.
 */
export const PRICE_DIGITS = 3
