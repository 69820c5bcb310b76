/**
 * An exact number in lowest terms, for slow references. It rounds by way of decimal text, so it
 * shares nothing with the arithmetic of the service.
 */
export class Rational {
  readonly over: bigint
  readonly under: bigint

  constructor(over: bigint | number, under: bigint | number = 1n) {
    const [a, b] = [BigInt(over), BigInt(under)]
    if (b === 0n) throw new RangeError('division by zero')
    let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b]
    while (y > 0n) [x, y] = [y, x % y]
    const sign = b < 0n ? -1n : 1n
    this.over = (sign * a) / x
    this.under = (sign * b) / x
  }

  /** The number that a decimal text such as `-0.6` or `2.5e-7` stands for. */
  static parse(text: string): Rational {
    const [digits = '', exponent = '0'] = text.split('e')
    const [whole = '', decimals = ''] = digits.split('.')
    const unscaled = new Rational(BigInt(whole + decimals), 10n ** BigInt(decimals.length))
    const power = new Rational(10n ** BigInt(Math.abs(Number(exponent))))
    return Number(exponent) < 0 ? unscaled.per(power) : unscaled.times(power)
  }

  plus(other: Rational): Rational {
    return new Rational(this.over * other.under + other.over * this.under, this.under * other.under)
  }

  minus(other: Rational): Rational {
    return this.plus(other.times(new Rational(-1n)))
  }

  times(other: Rational): Rational {
    return new Rational(this.over * other.over, this.under * other.under)
  }

  per(other: Rational): Rational {
    return new Rational(this.over * other.under, this.under * other.over)
  }

  isAbove(other: Rational): boolean {
    return this.minus(other).over > 0n
  }

  isZero(): boolean {
    return this.over === 0n
  }

  /**
   * The nearest double. The text has all decimals that a tie between two doubles above 10^-75 can
   * have, and a last digit that says whether there are more. JavaScript reads decimal text exactly.
   */
  toNumber(): number {
    const magnitude = this.over < 0n ? -this.over : this.over
    const scaled = magnitude * 10n ** 304n
    const more = scaled % this.under === 0n ? '0' : '1'
    const value = Number(`${scaled / this.under}${more}e-305`)
    return this.over < 0n ? -value : value
  }

  toString(): string {
    return `${this.over}/${this.under}`
  }
}

/** The sum of numbers. */
export function sumOf(numbers: readonly Rational[]): Rational {
  return numbers.reduce((sum, number) => sum.plus(number), new Rational(0n))
}
