import test from 'ava'
import fc from 'fast-check'
import {
  formatAmount,
  formatChange,
  formatDuration,
  formatExactAmount,
  formatNumber,
  formatPercent,
  formatPrice,
  formatSol,
  formatTime,
  formatUsd,
  shortAddress,
  withSign,
} from './format.ts'

test('an exact amount has every digit, whatever its size', (t) => {
  t.deepEqual(
    [
      formatExactAmount('0', 9),
      formatExactAmount('1', 9),
      formatExactAmount('-1234567', 3),
      formatExactAmount('123456789012345678901234567890', 6),
      formatExactAmount('1500000000', 9),
      formatExactAmount('7', 0),
    ],
    ['0', '0.000000001', '-1,234.567', '123,456,789,012,345,678,901,234.56789', '1.5', '7'],
  )
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 80n), 2n ** 80n), fc.nat(20), (raw, decimals) => {
      const [whole = '', fraction = ''] = formatExactAmount(raw.toString(), decimals).split('.')
      const digits = whole.replaceAll(',', '') + fraction.padEnd(decimals, '0')
      return BigInt(digits) === raw && (raw >= 0n || digits.startsWith('-'))
    }),
  )
})

test('a short amount is truncated, never rounded up', (t) => {
  const short = (raw: string, decimals: number) => formatAmount(raw, decimals).text
  t.deepEqual(
    [
      short('0', 6),
      short('999999999', 3),
      short('1234567999', 3),
      short('-1999999999999', 3),
      short('123456789', 5),
      short('1999999', 6),
      short('129999', 9),
      short('-1', 9),
      short('99999999999999999999', 0),
    ],
    [
      '0',
      '999,999',
      '1.234 M',
      '-1.999 B',
      '1,234.5',
      '1.9999',
      '0.0001299',
      '-0.000000001',
      '99,999 Q',
    ],
  )
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 90n), fc.nat(12), (raw, decimals) => {
      const [figure = '', unit = ''] = short(raw.toString(), decimals).split(' ')
      const [whole = '', fraction = ''] = figure.replaceAll(',', '').split('.')
      const zeros = { '': 0, M: 6, B: 9, T: 12, Q: 15 }[unit] ?? 99
      const shown = BigInt(whole + fraction) * 10n ** BigInt(zeros + decimals)
      const exact = raw * 10n ** BigInt(fraction.length)
      return shown <= exact && (raw === 0n || shown > 0n)
    }),
  )
})

test('numbers, durations and times have a short and an exact form', (t) => {
  t.deepEqual(
    [0, 12.3456789, 0.00001234, -1234.56, 1e-9].map((sol) => formatSol(sol).text),
    ['0', '12.35', '0.000012', '-1,234.6', '<0.000001'],
  )
  t.is(formatSol(12.345678901).exact, '12.345678901 SOL')
  t.deepEqual(
    [12.5, 12_345, 1_234_567, 9.876e9].map((usd) => formatUsd(usd).text),
    ['$12.5', '$12.35 K', '$1.23 M', '$9.88 B'],
  )
  t.deepEqual(
    [
      formatSol(null),
      formatUsd(null),
      formatPercent(null),
      formatDuration(null),
      formatNumber(null),
    ],
    Array.from({ length: 5 }, () => ({ text: '–', exact: 'not known' })),
  )
  t.deepEqual(
    [0, 59, 60, 3661, 90_000, 86_400 * 400 + 3600].map((seconds) => formatDuration(seconds).text),
    ['0 s', '59 s', '1 min', '1 h 1 min', '1 d 1 h', '400 d 1 h'],
  )
  t.deepEqual(formatTime(1_790_000_000, -120), {
    text: '2026-09-21 16:13:20',
    exact: '2026-09-21 14:13:20 UTC',
  })
  t.deepEqual([5.25, -3, 0, 0.04, -0.04, null].map(formatChange), [
    '+5.3%',
    '-3%',
    '0%',
    '0%',
    '0%',
    '–',
  ])
  t.is(shortAddress('DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'), 'DezX…B263')
  t.is(formatNumber(1e22).text, '10,000,000,000,000,000,000,000')
})

test('a price has four significant digits and no exponent, and a gain has a sign', (t) => {
  t.deepEqual(
    [1.2e-7, 0.0012346, 12.34567, 123456.7, 0, null].map((price) => formatPrice(price).text),
    ['0.00000012', '0.001235', '12.35', '123,457', '0', '–'],
  )
  t.deepEqual(
    [1.5, -1.5, 0].map((sol) => withSign(sol, formatSol(sol)).text),
    ['+1.5', '-1.5', '0'],
  )
})
