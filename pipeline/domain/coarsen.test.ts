import test from 'ava'
import fc from 'fast-check'
import { coarsen, coarsenFraction, coarsenNumber } from './coarsen.ts'
import { fraction, fractionText } from './fraction.ts'

test('a coarsened figure keeps two significant digits, rounded half away from zero (rule I2a)', (t) => {
  const examples = [
    [0n, 0n],
    [7n, 7n],
    [99n, 99n],
    [104n, 100n],
    [105n, 110n],
    [994n, 990n],
    [995n, 1000n],
    [12_549_000_000n, 13_000_000_000n],
    [-12_549_000_000n, -13_000_000_000n],
  ] as const
  t.deepEqual(
    examples.map(([value]) => coarsen(value)),
    examples.map(([, expected]) => expected),
  )
  t.is(coarsen(187_354_000_000n, 3), 187_000_000_000n)
})

test('a coarsened figure is off by at most 5%, keeps sign and order, and stays when coarsened again', (t) => {
  const anInteger = fc.bigInt({ min: -(2n ** 127n), max: 2n ** 128n - 1n })
  fc.assert(
    fc.property(anInteger, anInteger, (one, other) => {
      const magnitude = (value: bigint) => (value < 0n ? -value : value)
      const served = coarsen(one)
      t.true(magnitude(served - one) * 20n <= magnitude(one))
      t.regex(String(magnitude(served)), /^\d{1,2}0*$/)
      t.is(coarsen(-one), -served)
      t.is(coarsen(served), served)
      if (one <= other) t.true(served <= coarsen(other))
    }),
  )
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      t.is(BigInt(coarsenNumber(value)), coarsen(BigInt(value)))
    }),
  )
})

test('a coarsened fraction keeps its leading digits, however small it is', (t) => {
  const examples = [
    [0n, 7n, '0/1'],
    [5n, 10n, '1/2'],
    [1n, 3n, '333/1000'],
    [20_005n, 10_000n, '2/1'],
    [2005n, 1000n, '201/100'], // half, away from zero
    [2_004_999n, 1_000_000n, '2/1'],
    [12_345n, 1n, '12300/1'],
    [2n, 3n * 10n ** 30n, `${fractionText(fraction(667n, 10n ** 33n))}`],
  ] as const
  t.deepEqual(
    examples.map(([over, under]) => fractionText(coarsenFraction(fraction(over, under), 3))),
    examples.map(([, , expected]) => expected),
  )
})
