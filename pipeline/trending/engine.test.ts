import test from 'ava'
import fc from 'fast-check'
import { createPerturb } from '../domain/perturbation.ts'
import type { PoolSnapshot } from '../domain/pool-snapshot.ts'
import { USDC, WSOL } from '../domain/quote.ts'
import { type SlowChange, slowWatchlist, type WatchlistInputs } from '../testing/slow-watchlist.ts'
import { createEngine, type TrendingEngine } from './engine.ts'
import type { TokenFacts } from './token-book.ts'
import type { TrendingEvent } from './trending-event.ts'
import type { ComputedTick, WatchedToken } from './watched-token.ts'

const T = 1_790_000_000
const SOL = 1_000_000_000n
const MAX_AGE = 3600

/** Seconds between two events, often close to the end of a period. */
const aGap = fc.oneof(
  { weight: 8, arbitrary: fc.nat(12) },
  { weight: 4, arbitrary: fc.nat(700) },
  { weight: 4, arbitrary: fc.integer({ min: -11, max: 11 }).map((some) => 600 + some) },
  { weight: 3, arbitrary: fc.integer({ min: -11, max: 11 }).map((some) => 3600 + some) },
  { weight: 1, arbitrary: fc.integer({ min: -11, max: 11 }).map((some) => 77_760 + some) },
  { weight: 1, arbitrary: fc.integer({ min: -11, max: 11 }).map((some) => 86_400 + some) },
)

/** Values whose ratios are exactly 1.05, 0.95 and 1.2. */
const atThresholds = fc.constantFrom(19n, 20n, 21n, 24n).map((some) => some * SOL)

const aStored = (salt: string | null): fc.Arbitrary<WatchlistInputs> =>
  fc
    .record({
      steps: fc.array(
        fc.record({
          gap: aGap,
          kind: fc.constantFrom('buy', 'buy', 'buy', 'sell', 'sell', 'token_in', 'token_out'),
          mint: fc.constantFrom('mintA', 'mintA', 'mintB'),
          wallet: fc.integer({ min: 1, max: 4 }),
          amount: fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1n, 10n ** 20n)),
          value: fc.option(fc.oneof(fc.bigInt(0n, 30n * SOL), atThresholds), { freq: 6 }),
          price: fc.option(fc.oneof(fc.bigInt(100n * SOL, 250n * SOL), atThresholds), { freq: 8 }),
          pool: fc.constantFrom('', 'pool1', 'pool1', 'pool2'),
        }),
        { minLength: 1, maxLength: 20 },
      ),
      supply: fc.option(fc.bigInt(1n, 10n ** 15n), { freq: 5 }),
      solPrices: fc.array(fc.record({ gap: fc.nat(4000), usd: fc.bigInt(100n, 250n) }), {
        maxLength: 8,
      }),
      pools: fc.array(
        fc.record({
          gap: fc.nat(120),
          mint: fc.constantFrom('mintA', 'mintB'),
          pool: fc.constantFrom('pool1', 'pool1', 'pool2', ''),
          quoteMint: fc.constantFrom<string>(WSOL, WSOL, USDC, 'another'),
          quoteReserve: fc.bigInt(0n, 10n ** 13n),
          price: fc.record({ quote: fc.bigInt(0n, 10n ** 9n), base: fc.bigInt(0n, 10n ** 9n) }),
        }),
        { maxLength: 12 },
      ),
    })
    .map(({ steps, supply, solPrices, pools }) => {
      const events: TrendingEvent[] = []
      let blockTime = T
      for (const [at, { gap, kind, mint, wallet, amount, value, price, pool }] of steps.entries()) {
        blockTime += gap
        const isSwap = kind === 'buy' || kind === 'sell'
        events.push({
          slot: 1000 + at,
          txIndex: at % 3,
          wallet,
          eventIndex: 0,
          blockTime,
          kind: kind as TrendingEvent['kind'],
          mint,
          decimals: 6,
          amount,
          value: isSwap ? value : null,
          solPriceUsdE9: isSwap ? price : null,
          pool: isSwap ? pool : '',
        })
      }
      const start = T - (T % 10)
      return {
        events,
        facts: new Map<string, TokenFacts>([['mintA', { supply, symbol: 'A', name: 'A coin' }]]),
        solPrices: summed(solPrices, T - 4000).map(({ at, usd }) => ({
          time: at,
          usdE9: usd * SOL,
        })),
        pools: once(
          summed(pools, 0).map((snapshot) => ({ ...snapshot, at: start + 10 * snapshot.at })),
        ),
        perturb: createPerturb(salt),
        solPriceMaxAgeSeconds: MAX_AGE,
      }
    })

function summed<S extends { readonly gap: number }>(steps: readonly S[], from: number) {
  let at = from
  return steps.map(({ gap, ...step }) => {
    at += gap + 1
    return { ...step, at }
  })
}

/** Keeps one snapshot per tick and token. */
function once(snapshots: readonly PoolSnapshot[]): PoolSnapshot[] {
  const byKey = new Map(snapshots.map((snapshot) => [`${snapshot.at} ${snapshot.mint}`, snapshot]))
  return [...byKey.values()]
}

/**
 * Runs an engine as a reader of stored rows does: in ranges of `ticksPerRead` ticks, loading the
 * whole history of an unknown token.
 */
function run(
  stored: WatchlistInputs,
  of: {
    readonly from: number
    readonly through: number
    readonly ticksPerRead: number
    readonly written?: readonly WatchedToken[]
    /** Tokens that are loaded again before each range. */
    readonly reloads?: readonly string[]
    readonly onTick?: (tick: ComputedTick, engine: TrendingEngine) => void
  },
): SlowChange[] {
  const { from, through, ticksPerRead, written = [], reloads = [], onTick } = of
  const { perturb, events, facts, pools, solPrices } = stored
  const engine = createEngine({ from, solPriceMaxAgeSeconds: MAX_AGE, perturb })
  const lag = perturb === null ? 0 : 16
  let given = from - 10 + lag
  const load = (mint: string, until: number, tick: number) =>
    engine.load({
      mint,
      events: events.filter((event) => event.mint === mint && event.blockTime <= until),
      facts: facts.get(mint) ?? null,
      pools: pools.filter((snapshot) => snapshot.mint === mint && snapshot.at <= tick),
    })
  engine.addPrices(solPrices.filter(({ time }) => time <= from - 10))
  const active = events.filter(
    ({ blockTime }) => blockTime <= given && blockTime > given - 86_400 - 60,
  )
  for (const mint of new Set([...active, ...written].map(({ mint }) => mint)))
    load(mint, given, from - 10)
  for (const token of written) engine.restore(token)
  const changes: SlowChange[] = []
  for (let at = from; at <= through; at += ticksPerRead * 10) {
    const end = Math.min(through, at + (ticksPerRead - 1) * 10)
    for (const mint of reloads) if (engine.knows(mint)) load(mint, given, at - 10)
    const news = events.filter(({ blockTime }) => blockTime > given && blockTime <= end + lag)
    const unknown = new Set(
      news
        .filter(
          ({ kind, mint }) => kind !== 'token_in' && kind !== 'token_out' && !engine.knows(mint),
        )
        .map(({ mint }) => mint),
    )
    engine.add(news)
    for (const mint of unknown) load(mint, end + lag, at - 10)
    engine.addPrices(solPrices.filter(({ time }) => time > at - 10 && time <= end))
    engine.addPools(pools.filter((snapshot) => snapshot.at > at - 10 && snapshot.at <= end))
    given = end + lag
    for (let tick = at; tick <= end; tick += 10) {
      const computed = engine.tick(tick)
      onTick?.(computed, engine)
      changes.push(...computed.changes.map(({ event, token }) => ({ event, token })))
    }
  }
  return changes
}

const START = T - (T % 10)
const endOf = ({ events }: WatchlistInputs) => {
  const last = (events.at(-1)?.blockTime ?? T) + 86_400 + 120
  return last - (last % 10)
}

for (const salt of [null, 'a salt of this test'])
  test(`the engine agrees with the slow reference, in any reading ranges, ${salt === null ? 'without' : 'with'} PRIVACY_SALT`, (t) => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    let ticks = 0
    let rows = 0
    fc.assert(
      fc.property(
        aStored(salt),
        fc.constantFrom(1, 7, 360, 5000),
        fc.constantFrom<string[]>([], ['mintA'], ['mintA', 'mintB']),
        (stored, ticksPerRead, reloads) => {
          const through = endOf(stored)
          const from = START - 20
          const expected = slowWatchlist(stored, { from, through, onlyWhenDue: true })
          t.deepEqual(run(stored, { from, through, ticksPerRead, reloads }), expected)
          ticks += (through - from) / 10 + 1
          rows += expected.length
        },
      ),
      { seed, numRuns: 15 },
    )
    t.log(`seed ${seed}: ${ticks} ticks, ${rows} rows, no difference`)
  })

test('an engine that starts at any tick continues like one that ran all the time', (t) => {
  fc.assert(
    fc.property(
      aStored(null),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(7, 360),
      (stored, part, ticksPerRead) => {
        const through = endOf(stored)
        const cut = START + 10 * Math.floor((part * (through - START)) / 10)
        const written = new Map<string, WatchedToken>()
        const whole = run(stored, { from: START - 20, through, ticksPerRead })
        for (const { event, token } of whole)
          if (token.at < cut) {
            if (event === 'left') written.delete(token.mint)
            else written.set(token.mint, token)
          }
        const later = whole.filter(({ token }) => token.at >= cut)
        t.deepEqual(
          run(stored, { from: cut, through, ticksPerRead, written: [...written.values()] }),
          later,
        )
        // Without written rows, it reports listed tokens as entered at its first tick, with their
        // true time of entry.
        const anew = slowWatchlist(stored, { from: cut, through, onlyWhenDue: true })
        t.deepEqual(run(stored, { from: cut, through, ticksPerRead }), anew)
      },
    ),
    { numRuns: 20 },
  )
})
