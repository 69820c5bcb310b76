import test from 'ava'
import fc from 'fast-check'
import { nearestNumber } from './amount.ts'

const u128 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n })

test('a decimal amount becomes the double that its decimal text parses to (rule C20)', (t) => {
  fc.assert(
    fc.property(u128, fc.nat({ max: 30 }), (raw, decimals) => {
      const digits = raw.toString().padStart(decimals + 1, '0')
      const at = digits.length - decimals
      const text = `${digits.slice(0, at)}.${digits.slice(at)}0`
      t.is(nearestNumber(raw, 10n ** BigInt(decimals)), Number(text))
      t.is(nearestNumber(-raw, 10n ** BigInt(decimals)), raw === 0n ? 0 : -Number(text))
    }),
  )
})

test('a ratio becomes the nearest double, ties to even', (t) => {
  const mantissa = fc.bigInt({ min: 1n << 52n, max: (1n << 53n) - 2n })
  fc.assert(
    fc.property(mantissa, fc.integer({ min: -150, max: 60 }), u128, u128, (m, exponent, a, b) => {
      const [part, whole] = [a % (b + 1n), b + 1n] // m + part / whole lies between two doubles
      const up = part * 2n > whole || (part * 2n === whole && m % 2n === 1n)
      const ratio = [m * whole + part, whole] as const
      const scaled =
        exponent < 0
          ? nearestNumber(ratio[0], ratio[1] << BigInt(-exponent))
          : nearestNumber(ratio[0] << BigInt(exponent), ratio[1])
      t.is(scaled, Number(up ? m + 1n : m) * 2 ** exponent)
    }),
  )
  t.is(nearestNumber((1n << 54n) + 2n, 1n), 2 ** 54)
  t.is(nearestNumber((1n << 54n) + 6n, 1n), 2 ** 54 + 8)
  t.is(nearestNumber(((1n << 54n) + 2n) * 10n ** 40n + 1n, 10n ** 40n), 2 ** 54 + 4)
})

test('a denominator of zero or below is refused', (t) => {
  t.throws(() => nearestNumber(1n, 0n), { instanceOf: RangeError })
})
