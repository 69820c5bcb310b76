import test from 'ava'
import fc from 'fast-check'
import { type Address, addressBytes } from '../domain/address.ts'
import { USDC, USDT, WSOL } from '../domain/quote.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { SolPrice } from '../domain/slot.ts'
import { aMarker } from '../testing/a-marker.ts'
import { readSolPrice } from './pools/whirlpool-account.ts'
import { createSolPrices, ownPrices, parseSolPrices } from './sol-price.ts'

function poolAccount(sqrtPrice: bigint, mintA: Address, mintB: Address): Buffer {
  const bytes = Buffer.alloc(653)
  bytes.set(Buffer.from('3f95d10ce1806309', 'hex'))
  bytes.writeBigUInt64LE(sqrtPrice & 0xffffffffffffffffn, 65)
  bytes.writeBigUInt64LE(sqrtPrice >> 64n, 73)
  bytes.set(addressBytes(mintA), 101)
  bytes.set(addressBytes(mintB), 181)
  return bytes
}

test('a Whirlpool account gives USD × 10^9 for one SOL, rounded half up, in either token order (rule J7)', (t) => {
  // The square root of 0.15 (150 USD: 0.15 micro-USDC per lamport), times 2^64.
  const sqrt = 7144393258922745604n
  t.is(readSolPrice(poolAccount(sqrt, WSOL, USDC)), 150_000_000_000n)
  t.is(readSolPrice(poolAccount((1n << 128n) / sqrt, USDC, WSOL)), 150_000_000_000n)
  t.is(readSolPrice(poolAccount(1n << 64n, WSOL, USDC)), 1_000_000_000_000n)
  // 2^64 / sqrt(2 * 10^12), just above and just below: 0.5 units of the ninth decimal round up,
  // less down.
  t.is(readSolPrice(poolAccount(13043817825333n, WSOL, USDC)), 1n)
  t.is(readSolPrice(poolAccount(13043817825332n, WSOL, USDC)), null)
})

test('an account that is no SOL/USDC Whirlpool has no price', (t) => {
  const good = poolAccount(1n << 64n, WSOL, USDC)
  t.is(readSolPrice(good.subarray(0, 652)), null)
  t.is(readSolPrice(poolAccount(0n, WSOL, USDC)), null)
  t.is(readSolPrice(poolAccount(1n << 64n, WSOL, USDT)), null)
  // 2^64 billionths of a USD: neither a table nor the log can store it.
  t.is(readSolPrice(poolAccount(1n << 77n, WSOL, USDC)), null)
  good[0] = 0
  t.is(readSolPrice(good), null)
  t.is(readSolPrice(new Uint8Array()), null)
})

test('a second keeps its first price; a lookup returns the newest price that is not too old (rules C1, J7)', (t) => {
  const prices = createSolPrices([
    { time: 100, usdE9: 1n },
    { time: 100, usdE9: 2n },
    { time: 300, usdE9: 3n },
  ])
  prices.add({ time: 310, usdE9: 4n })
  prices.add({ time: 310, usdE9: 5n })
  prices.add({ time: 300, usdE9: 6n })
  prices.add({ time: 200, usdE9: 7n })
  t.is(prices.at(99, 3600), null)
  t.deepEqual(prices.at(100, 0), { time: 100, usdE9: 2n })
  t.is(prices.at(101, 0), null)
  t.deepEqual(prices.at(299, 3600), { time: 200, usdE9: 7n })
  t.deepEqual(prices.at(300, 3600), { time: 300, usdE9: 3n })
  t.deepEqual(prices.at(3910, 3600), { time: 310, usdE9: 4n })
  t.is(prices.at(3911, 3600), null)
  // Only the pool's price goes to the log with a slot. The file is read at each start.
  t.is(prices.newestOfPool(199), null)
  t.deepEqual(prices.newestOfPool(309), { time: 300, usdE9: 6n })
  t.deepEqual(prices.newestOfPool(9_999_999), { time: 310, usdE9: 4n })
})

test('the first marker that names a price of its own second is where the price came from (rule K9)', (t) => {
  const price = { time: 101, usdE9: 5n }
  const marker = (slot: number, blockTime: number, usdE9 = 5n) => ({
    ...aMarker(slot),
    blockTime,
    solPrice: { ...price, usdE9 },
  })
  const markers = [
    marker(1, 102),
    marker(2, 101, 6n),
    marker(3, 101),
    aMarker(4),
    marker(5, 101, 6n),
  ]
  t.deepEqual([...ownPrices(markers)], [[markers[1], { time: 101, usdE9: 6n }]])
  const [, ...others] = markers
  t.deepEqual(
    [...ownPrices(others)].map(([{ slot }]) => slot),
    [2, 3],
  )
})

test('lookups agree with a linear search, and memory is bounded', (t) => {
  const price = fc.record({
    time: fc.integer({ min: 1, max: 50 }),
    usdE9: fc.bigInt({ min: 1n, max: 9n }),
  })
  fc.assert(
    fc.property(
      fc.uniqueArray(price, { selector: (one) => one.time, maxLength: 10 }),
      fc.array(price, { maxLength: 30 }),
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 0, max: 20 }),
      (history, live, time, age) => {
        const prices = createSolPrices(history)
        const known = new Map<number, SolPrice>()
        for (const one of live) {
          prices.add(one)
          if (!known.has(one.time)) known.set(one.time, one)
        }
        for (const one of history) known.set(one.time, one)
        const found = [...known.values()]
          .filter((one) => one.time <= time && time - one.time <= age)
          .sort((a, b) => b.time - a.time)[0]
        t.deepEqual(prices.at(time, age), found ?? null)
      },
    ),
  )
  const bounded = createSolPrices([], { limit: 100 })
  for (let time = 0; time < 10_000; time++) bounded.add({ time, usdE9: 1n })
  t.is(bounded.at(9000, 3600), null)
  t.deepEqual(bounded.at(9999, 0), { time: 9999, usdE9: 1n })
})

test('SOL_PRICES_FILE may have a header and any order; the error names an invalid line', (t) => {
  t.deepEqual(
    parseSolPrices('unix_seconds,usd\r\n200,61.25\r\n100,0.000000001\n\n200, 62\n', 'p.csv'),
    [
      { time: 100, usdE9: 1n },
      { time: 200, usdE9: 62_000_000_000n },
    ],
  )
  t.deepEqual(parseSolPrices('', 'p.csv'), [])
  for (const bad of [
    'x,1',
    '100,0',
    '100,0.0000000001',
    '100,-1',
    '100',
    '100,1e3',
    '1.5,2',
    '100,1,2',
    '4294967296,1', // above the largest time of a table
  ]) {
    const error = t.throws(() => parseSolPrices(`100,1\n${bad}\n`, 'p.csv'), {
      instanceOf: ServiceError,
    })
    t.is(error?.code, 'bad_config')
    t.regex(error?.message ?? '', /^SOL_PRICES_FILE: line 2 of p\.csv is not/)
  }
  t.throws(() => parseSolPrices('-1,5\n', 'p.csv'), { message: /line 1/ })
})
