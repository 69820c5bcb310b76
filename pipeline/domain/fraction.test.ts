import test from 'ava'
import fc from 'fast-check'
import {
  compareFractions,
  decimalFraction,
  divideFractions,
  fraction,
  fractionText,
  nearestTo,
  parseFraction,
  sumFractions,
} from './fraction.ts'

const term = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    fc.bigInt({ min: 1n, max: 10n ** 30n }),
  )
  .map(([numerator, denominator]) => ({ numerator, denominator }))

test('fractions are compared exactly, also where their doubles are equal', (t) => {
  const above = fraction(10n ** 30n + 1n, 10n ** 30n)
  t.is(nearestTo(above), 1)
  t.deepEqual(
    [compareFractions(above, fraction(1n)), compareFractions(fraction(1n), above)],
    [1, -1],
  )
  t.is(compareFractions(fraction(2n, 6n), fraction(1n, 3n)), 0)
  t.is(compareFractions(fraction(-1n, 2n), fraction(-1n, 3n)), -1)
})

test('a sum of fractions equals the sum term by term over one denominator', (t) => {
  fc.assert(
    fc.property(fc.array(term, { maxLength: 9 }), (terms) => {
      const denominator = terms.reduce((product, one) => product * one.denominator, 1n)
      const numerator = terms.reduce(
        (sum, one) => sum + (one.numerator * denominator) / one.denominator,
        0n,
      )
      t.is(compareFractions(sumFractions(terms), { numerator, denominator }), 0)
    }),
  )
})

test('a double becomes the decimal number that it prints as', (t) => {
  t.deepEqual(
    [0.6, -12.5, 3, 1e21, 2.5e-7].map((value) => fractionText(decimalFraction(value))),
    ['3/5', '-25/2', '3/1', '1000000000000000000000/1', '1/4000000'],
  )
  fc.assert(
    fc.property(fc.double({ min: 1e-250, max: 1e300, noNaN: true }), (value) => {
      t.is(nearestTo(decimalFraction(value)), value)
      t.is(nearestTo(decimalFraction(-value)), -value)
    }),
  )
  t.throws(() => decimalFraction(Number.POSITIVE_INFINITY), { instanceOf: RangeError })
})

test('a fraction is stored in lowest terms, and other texts are refused', (t) => {
  fc.assert(
    fc.property(term, fc.bigInt({ min: 1n, max: 10n ** 9n }), ({ numerator, denominator }, by) => {
      const text = fractionText({ numerator, denominator })
      t.is(fractionText({ numerator: numerator * by, denominator: denominator * by }), text)
      const read = parseFraction(text)
      t.is(read && compareFractions(read, { numerator, denominator }), 0)
    }),
  )
  t.deepEqual(['', '1', '1/0', '1/-2', 'a/b', '1/2/3'].map(parseFraction), Array(6).fill(null))
})

test('a denominator of zero or below is refused', (t) => {
  t.throws(() => fraction(1n, 0n), { instanceOf: RangeError })
  t.throws(() => divideFractions(fraction(1n), fraction(0n)), { instanceOf: RangeError })
})
