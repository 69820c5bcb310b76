import { nearestNumber } from './amount.ts'

/** An exact rational number (rule C20). The denominator is above zero; terms need not be lowest. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

export const ZERO: Fraction = { numerator: 0n, denominator: 1n }

/** Returns the fraction of two integers. Throws a RangeError unless `denominator` is above zero. */
export function fraction(numerator: bigint, denominator = 1n): Fraction {
  if (denominator <= 0n) throw new RangeError(`not a denominator: ${denominator}`)
  return { numerator, denominator }
}

/** Returns the double nearest to a fraction; null stays null. */
export function nearestTo(value: Fraction): number
export function nearestTo(value: Fraction | null): number | null
export function nearestTo(value: Fraction | null): number | null {
  return value === null ? null : nearestNumber(value.numerator, value.denominator)
}

/** Compares two fractions exactly: below zero if `a` is less, above zero if it is more, else 0. */
export function compareFractions(a: Fraction, b: Fraction): number {
  const left = a.numerator * b.denominator
  const right = b.numerator * a.denominator
  return left < right ? -1 : left > right ? 1 : 0
}

/** Returns `a` / `b`. Throws a RangeError unless `b` is above zero. */
export function divideFractions(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.denominator, a.denominator * b.numerator)
}

/**
 * Returns the sum of fractions. It adds halves of the list, so that long factors meet factors of
 * the same length. Thousands of terms then take milliseconds.
 */
export function sumFractions(terms: readonly Fraction[]): Fraction {
  if (terms.length <= 1) return terms[0] ?? ZERO
  const middle = terms.length >> 1
  const a = sumFractions(terms.slice(0, middle))
  const b = sumFractions(terms.slice(middle))
  return {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  }
}

/**
 * Returns the decimal number that a double prints as: 0.6 is 6 / 10. A number written with at most
 * 15 significant digits is returned as it was written. Throws a RangeError unless it is finite.
 */
export function decimalFraction(value: number): Fraction {
  if (Number.isSafeInteger(value)) return { numerator: BigInt(value), denominator: 1n }
  const parts = /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value))
  if (parts === null) throw new RangeError(`not a decimal number: ${value}`)
  const [, whole = '', decimals = '', exponent = '0'] = parts
  const digits = BigInt(whole + decimals)
  const shift = Number(exponent) - decimals.length
  return shift < 0
    ? { numerator: digits, denominator: 10n ** BigInt(-shift) }
    : { numerator: digits * 10n ** BigInt(shift), denominator: 1n }
}

/** Returns a fraction in lowest terms as text: 2 / 6 is `1/3`. `parseFraction` reads it. */
export function fractionText({ numerator, denominator }: Fraction): string {
  const divisor = greatestDivisor(numerator < 0n ? -numerator : numerator, denominator)
  return `${numerator / divisor}/${denominator / divisor}`
}

/** Reads a text of `fractionText`; null for any other text. */
export function parseFraction(text: string): Fraction | null {
  const parts = /^(-?\d+)\/([1-9]\d*)$/.exec(text)
  if (parts === null) return null
  return { numerator: BigInt(parts[1] ?? 0), denominator: BigInt(parts[2] ?? 1) }
}

/** The greatest common divisor, by Euclid's algorithm. */
function greatestDivisor(a: bigint, b: bigint): bigint {
  let [greater, rest] = [a, b]
  while (rest !== 0n) [greater, rest] = [rest, greater % rest]
  return greater
}
