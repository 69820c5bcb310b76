import test from 'ava'
import { nearestTo } from '../domain/fraction.ts'
import { createEngine } from './engine.ts'
import { roundFigures } from './round-figures.ts'
import type { TrendingEvent } from './trending-event.ts'
import type { WatchedToken } from './watched-token.ts'

/* Figures of the watchlist at their thresholds, and where doubles would round twice (rule G6). */

const TICK = 1_790_000_000
const SOL = 1_000_000_000n

/** A swap some seconds before the tick; by default wallet 1 buys 1 raw unit for 1 SOL at 1 USD. */
const swap = (ago: number, fields: Partial<TrendingEvent> = {}): TrendingEvent => ({
  slot: TICK - ago,
  txIndex: 0,
  wallet: 1,
  eventIndex: 0,
  blockTime: TICK - ago,
  kind: 'buy',
  mint: 'mint',
  decimals: 0,
  amount: 1n,
  value: SOL,
  solPriceUsdE9: SOL,
  pool: '',
  ...fields,
})

/** The token at the tick, by its swaps. */
function tokenOf(supply: bigint | null, ...events: readonly TrendingEvent[]): WatchedToken {
  const engine = createEngine({ from: TICK, solPriceMaxAgeSeconds: 10_000, perturb: null })
  engine.addPrices([{ time: TICK - 8000, usdE9: SOL }])
  const facts = { supply, symbol: '', name: '' }
  engine.load({ mint: 'mint', events, facts, pools: [] })
  const [token] = engine.tick(TICK).listed
  if (token === undefined) throw new Error('the token is listed')
  return roundFigures(token)
}

/** Two wallets bought over an hour ago, the later for `then`; the newest swap is for `now`. */
const movedBetween = (then: bigint, now: bigint, supply: bigint | null = 1n) =>
  tokenOf(
    supply,
    swap(7000),
    swap(6000, { wallet: 2, value: then }),
    swap(100, { wallet: 2, value: now }),
  ).momentum.mcap

test('a change of exactly 5% is flat, and the least more or less is not (rules G3, G6)', (t) => {
  t.deepEqual(movedBetween(4n * SOL, 4_200_000_000n), { value: 4.2, changePct: 5, trend: 'flat' })
  t.deepEqual(movedBetween(4n * SOL, 3_800_000_000n), { value: 3.8, changePct: -5, trend: 'flat' })
  const [then, up, down] = [20n * 10n ** 20n, 21n * 10n ** 20n + 1n, 19n * 10n ** 20n - 1n]
  t.deepEqual(
    [movedBetween(then, up), movedBetween(then, down)].map(({ changePct, trend }) => [
      changePct,
      trend,
    ]),
    [
      [5, 'up'],
      [-5, 'down'],
    ],
  )
})

test('the change of a market cap is null while one of now or of an hour ago is unknown (rule G6)', (t) => {
  const unknown = { changePct: null, trend: 'flat' }
  t.deepEqual(movedBetween(SOL, SOL, null), { value: null, ...unknown } as never)
  // The first swaps had no value.
  const late = tokenOf(
    1n,
    swap(7000, { value: null }),
    swap(6000, { wallet: 2, value: null }),
    swap(100, { wallet: 2, value: 2n * SOL }),
  )
  t.deepEqual(late.momentum.mcap, { value: 2, ...unknown } as never)
  const young = [swap(900), swap(800, { wallet: 2 })] as const
  t.deepEqual(tokenOf(1n, ...young).momentum.mcap, { value: 1, changePct: 0, trend: 'flat' })
  t.deepEqual(tokenOf(null, ...young).momentum.mcap, { value: null, ...unknown } as never)
  t.deepEqual(tokenOf(null, ...young).momentum.liquidity, {
    value: null,
    changePct: 0,
    trend: 'flat',
  })
})

test('from nothing to something is 100 and up, and to nothing is -100 and down (rule G6)', (t) => {
  const volume = (...events: readonly TrendingEvent[]) => tokenOf(1n, ...events).momentum.volume1h
  const old = [swap(9000), swap(8000, { wallet: 2 })] as const
  t.deepEqual(volume(...old, swap(50)), { value: 1, changePct: 100, trend: 'up' })
  t.deepEqual(volume(...old), { value: 0, changePct: 0, trend: 'flat' })
  t.deepEqual(volume(...old, swap(4000)), { value: 0, changePct: -100, trend: 'down' })
})

test('conviction is the exact sum of its terms, rounded once (rule G2)', (t) => {
  // 40 x 2/10 + 30 x 6/7 + 30 x 1/7 is 38; a sum of doubles gives 37.99999999999999.
  const token = tokenOf(
    1n,
    swap(7000, { amount: 4n }),
    swap(6900, { wallet: 2, amount: 2n }),
    swap(100, { kind: 'sell', amount: 1n, value: 6n * SOL }),
    swap(90, { wallet: 2 }),
  )
  t.deepEqual([token.walletsHolding, token.conviction], [2, 38])
})

test('the mean entry and the multiple are exact, rounded once (rule G2)', (t) => {
  // Entries at 1/3 and 2/3 USD with the weights 1 and 3: 7/12. The newest price 7/30 is 0.4 of it.
  const token = tokenOf(
    1n,
    swap(900, { amount: 3n }),
    swap(800, { wallet: 2, amount: 3n, value: 2n * SOL }),
    swap(700, { wallet: 2, amount: 1n, value: SOL }),
    swap(100, { wallet: 3, kind: 'sell', amount: 30n, value: 7n * SOL }),
  )
  t.deepEqual(
    [token.avgEntryMcap, token.bandMin, token.bandMax, token.currentMcap, token.multiple],
    [7 / 12, 1 / 3, 2 / 3, 7 / 30, 0.4],
  )
  t.is(token.exactMcap, '7/30')
})

test('the flow must exceed 1.2 times the other side, by however little (rule G4)', (t) => {
  const flow = (bought: bigint, sold: bigint) =>
    tokenOf(
      1n,
      swap(9000, { amount: 100n }),
      swap(8900, { wallet: 2, amount: 100n }),
      swap(100, { value: bought }),
      swap(90, { wallet: 2, kind: 'sell', value: sold }),
    ).state
  const [five, six] = [5n * 10n ** 20n, 6n * 10n ** 20n]
  t.deepEqual(
    [flow(six, five), flow(six + 1n, five), flow(five, six), flow(five, six + 1n)],
    ['holding', 'accumulating', 'holding', 'distributing'],
  )
})

test('a token is near its end from exactly 90% of 24 hours without a trade (rule G6)', (t) => {
  const near = (ago: number) => tokenOf(1n, swap(80_000), swap(ago, { wallet: 2 })).nearEvict
  t.deepEqual([near(77_759), near(77_760)], [false, true])
})

test('a list of a thousand holders has an exact mean (rule G6)', (t) => {
  const events = Array.from({ length: 1000 }, (_, at) =>
    swap(5000 - at, { wallet: at + 1, amount: BigInt(at + 1), value: BigInt(at + 1) * SOL }),
  )
  t.is(tokenOf(1n, ...events).avgEntryMcap, nearestTo({ numerator: 1n, denominator: 1n }))
})

test('the pools of the tokens with most conviction come first, and none of a token without a pool', (t) => {
  const engine = createEngine({ from: TICK, solPriceMaxAgeSeconds: 10_000, perturb: null })
  engine.addPrices([{ time: TICK - 8000, usdE9: SOL }])
  const facts = { supply: 1n, symbol: '', name: '' }
  for (const [mint, wallets, pool] of [
    ['a', 2, 'pool a'],
    ['b', 5, 'pool b'],
    ['c', 9, ''],
    ['d', 5, 'pool d'],
    ['e', 7, 'pool e'],
  ] as const) {
    const events = Array.from({ length: wallets }, (_, at) =>
      swap(7000 - at, { mint, wallet: at + 1, pool }),
    )
    engine.load({ mint, events, facts, pools: [] })
  }
  engine.tick(TICK)
  const all = ['e', 'b', 'd', 'a'].map((mint) => ({ mint, pool: `pool ${mint}` }))
  t.deepEqual(engine.pools(9), all)
  // Tokens b and d have the same conviction.
  for (const most of [0, 1, 2, 3, 4]) t.deepEqual(engine.pools(most), all.slice(0, most))
})
