import test from 'ava'
import fc from 'fast-check'
import { hourBars } from './hour-bars.ts'
import { sparklinePath } from './sparkline.ts'
import { type ChartedSwap, impliedPrices, positionHistory, volumeBuckets } from './swap-series.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

const aSwap = (change: Partial<ChartedSwap>): ChartedSwap => ({
  block_time: 100,
  wallet: 'W1',
  side: 'buy',
  base_amount: '100',
  base_decimals: 2,
  quote_mint: WSOL,
  quote_amount: '1000',
  quote_mismatch: false,
  sol_value: null,
  ...change,
})

test('a position is the sum of its swaps, with first in, first out profit', (t) => {
  const newestFirst = [
    aSwap({ block_time: 4, side: 'sell', base_amount: '150', quote_amount: '3000' }),
    aSwap({ block_time: 3, wallet: 'W2' }),
    aSwap({ block_time: 2, quote_amount: '1500' }),
    aSwap({ block_time: 1 }),
  ]
  t.deepEqual(positionHistory(newestFirst, 'W1'), {
    points: [
      { time: 1, side: 'buy', held: 100n, realised: 0n },
      { time: 2, side: 'buy', held: 200n, realised: 0n },
      // 2000 - 1000 for the first lot, 1000 - 750 for half of the second
      { time: 4, side: 'sell', held: 50n, realised: 1250n },
    ],
    unvalued: 0,
    unmatched: 0,
  })
})

test('swaps without a value in SOL and sells beyond what was bought give no profit and are counted', (t) => {
  const newestFirst = [
    aSwap({ block_time: 4, side: 'sell', base_amount: '300', quote_amount: '900' }),
    aSwap({ block_time: 3, side: 'sell', base_amount: '50' }),
    aSwap({ block_time: 2 }),
    aSwap({ block_time: 1, quote_mint: USDC }),
  ]
  t.deepEqual(positionHistory(newestFirst, 'W1'), {
    points: [
      { time: 1, side: 'buy', held: 100n, realised: 0n },
      { time: 2, side: 'buy', held: 200n, realised: 0n },
      { time: 3, side: 'sell', held: 150n, realised: 0n },
      // 50 more of the lot without a value, then 100 of the second: 300 - 1000
      { time: 4, side: 'sell', held: -150n, realised: -700n },
    ],
    unvalued: 3,
    unmatched: 1,
  })
})

test('a sell of tokens that the wallet never bought is counted as such, not as one without a value', (t) => {
  const { unvalued, unmatched } = positionHistory([aSwap({ side: 'sell' })], 'W1')
  t.deepEqual({ unvalued, unmatched }, { unvalued: 0, unmatched: 1 })
})

test('swaps against USDC count with their value in SOL', (t) => {
  const inUsdc = (change: Partial<ChartedSwap>) => aSwap({ quote_mint: USDC, ...change })
  const newestFirst = [
    inUsdc({ block_time: 61, side: 'sell', sol_value: 0.3 }),
    inUsdc({ block_time: 60, sol_value: 0.25 }),
  ]
  t.deepEqual(positionHistory(newestFirst, 'W1').points.at(-1)?.realised, 50_000_000n)
  t.deepEqual(volumeBuckets(newestFirst).buckets, [
    { time: 60, bought: 250_000_000n, sold: 300_000_000n },
  ])
  t.deepEqual(impliedPrices(newestFirst), [
    { time: 60, wallet: 'W1', side: 'buy', price: 0.25 },
    { time: 61, wallet: 'W1', side: 'sell', price: 0.3 },
  ])
})

test('volume buckets add up to the swaps, in at most 60 intervals', (t) => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          block_time: fc.integer({ min: 1_700_000_000, max: 1_800_000_000 }),
          side: fc.constantFrom('buy' as const, 'sell' as const),
          quote_amount: fc.bigInt(0n, 2n ** 64n).map(String),
        }),
        { minLength: 1, maxLength: 40 },
      ),
      (changes) => {
        const swaps = changes.map(aSwap)
        const { seconds, buckets } = volumeBuckets(swaps)
        const sum = (side: string) =>
          swaps
            .filter((swap) => swap.side === side)
            .reduce((total, { quote_amount }) => total + BigInt(quote_amount), 0n)
        t.true(buckets.length <= 60)
        t.deepEqual(
          buckets.map(({ time }) => time - (buckets[0]?.time ?? 0)),
          buckets.map((_, index) => index * seconds),
        )
        t.is(
          buckets.reduce((total, { bought }) => total + bought, 0n),
          sum('buy'),
        )
        t.is(
          buckets.reduce((total, { sold }) => total + sold, 0n),
          sum('sell'),
        )
      },
    ),
    { numRuns: 50 },
  )
  t.deepEqual(volumeBuckets([]), { seconds: 60, buckets: [] })
})

test('implied prices are in SOL per token, oldest first, without swaps that have no value', (t) => {
  t.deepEqual(
    impliedPrices([
      aSwap({ block_time: 3, quote_amount: '3000000000' }),
      aSwap({ block_time: 2, quote_mint: USDC }),
      aSwap({ block_time: 1, base_amount: '200', quote_amount: '1000000000' }),
    ]),
    [
      { time: 1, wallet: 'W1', side: 'buy', price: 0.5 },
      { time: 3, wallet: 'W1', side: 'buy', price: 3 },
    ],
  )
})

test('a sparkline fills its area, and equal values are a line in the middle', (t) => {
  // x: 1, 24, 47; y: 0 is at the bottom (15), 10 at the top (1), 5 half way (8)
  t.is(sparklinePath([0, 10, 5], 48, 16), 'M1.0 15.0L24.0 1.0L47.0 8.0')
  t.is(sparklinePath([3, 3], 48, 16), 'M1.0 8.0L47.0 8.0')
  t.is(sparklinePath([], 48, 16), '')
})

test('busiest hours are in the order of the UTC day, with local time', (t) => {
  t.deepEqual(
    hourBars(
      [
        { hour_utc: 23, tx_count: 10 },
        { hour_utc: 2, tx_count: 5 },
      ],
      -330,
    ),
    [
      { utc: '02:00', local: '07:30', count: 5, fraction: 0.5 },
      { utc: '23:00', local: '04:30', count: 10, fraction: 1 },
    ],
  )
})
