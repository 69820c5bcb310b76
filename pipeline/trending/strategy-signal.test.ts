import test from 'ava'
import fc from 'fast-check'
import type { Fraction } from '../domain/fraction.ts'
import { anExactToken } from '../testing/a-watched-token.ts'
import { type Condition, OPS, type Strategy } from './strategy.ts'
import { type Signal, SignalDetector } from './strategy-signal.ts'
import type { ExactToken, WatchedToken, WatchlistTick } from './watched-token.ts'

const AT = 1_790_000_000

const strategy = (name: string, ...conditions: Condition[]): Strategy => ({
  name,
  description: 'For tests.',
  conditions,
})

const HELD = strategy('held', { field: 'wallets_holding', op: '>=', threshold: 3 })
const YOUNG_AND_UP = strategy(
  'young_and_up',
  { field: 'watchlist_seconds', op: '<=', threshold: 600 },
  { field: 'momentum.mcap.trend', op: '=', threshold: 'up' },
)
const MINT = anExactToken().mint

test('a strategy fires once for each listing of a token, with its reasons (rule G5)', (t) => {
  const firings = new SignalDetector()
  const tick = (at: number, strategies: readonly Strategy[], ...listed: ExactToken[]) => {
    const signals = firings.detect(strategies, { at, listed })
    firings.add(signals)
    return signals
  }
  const names = (signals: readonly Signal[]) => signals.map(({ strategy }) => strategy)
  const entered = { enteredAt: AT }
  t.deepEqual(tick(AT, [HELD, YOUNG_AND_UP], anExactToken({ ...entered, walletsHolding: 2 })), [
    {
      id: '1f49769ff1a3fdf3db572f3e9c70f63a',
      strategy: 'young_and_up',
      mint: MINT,
      entry: AT,
      symbol: 'Bonk',
      name: 'Bonk Inu',
      firedAt: AT,
      conviction: 61.75,
      walletsHolding: 2,
      wallets: [3, 7, 12, 40],
      triggerMcap: { numerator: 824_001n, denominator: 1n },
      heldLamports: 18_400_000_000n,
      buyLamports: 12_500_000_000n,
      sellLamports: 3_125_000_000n,
      reasons: [
        { field: 'watchlist_seconds', op: '<=', threshold: 600, value: 0 },
        { field: 'momentum.mcap.trend', op: '=', threshold: 'up', value: 'up' },
      ],
    },
  ])
  const token = anExactToken(entered)
  t.deepEqual(names(tick(AT + 10, [HELD, YOUNG_AND_UP], token)), ['held'])
  t.deepEqual(names(tick(AT + 20, [HELD, YOUNG_AND_UP], token)), [])
  // A strategy that is added later fires at the first tick it sees.
  const later = strategy('later', { field: 'conviction', op: '>', threshold: 1 })
  t.deepEqual(names(tick(AT + 30, [HELD, later], token)), ['later'])
  firings.forget([{ mint: MINT, entry: AT }])
  const again = anExactToken({ enteredAt: AT + 100 })
  t.deepEqual(names(tick(AT + 100, [HELD, later], again)), ['held', 'later'])
})

const momentum = fc.record({
  value: fc.option(fc.integer({ min: 0, max: 3 })),
  changePct: fc.integer({ min: -1, max: 1 }),
  trend: fc.constantFrom('up', 'down', 'flat'),
})
const figures = fc.record({
  walletsHolding: fc.integer({ min: 1, max: 4 }),
  multiple: fc.option(fc.integer({ min: 0, max: 3 })),
  state: fc.constantFrom('discovered', 'accumulating', 'distributing', 'holding'),
  nearEvict: fc.boolean(),
  momentum: fc.record({
    mcap: momentum,
    holders: momentum,
    volume1h: momentum,
    liquidity: momentum,
  }),
})
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({
    field: fc.constantFrom('wallets_holding', 'multiple', 'momentum.mcap.value'),
    op: fc.constantFrom(...OPS),
    threshold: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({
    field: fc.constant('state'),
    op: fc.constantFrom('=' as const, '!=' as const),
    threshold: fc.constantFrom('discovered', 'accumulating'),
  }),
  fc.record({
    field: fc.constant('watchlist_seconds'),
    op: fc.constantFrom(...OPS),
    threshold: fc.constantFrom(0, 10, 30),
  }),
)
/** Figures of a mint, tick by tick; null while it is not listed. */
const course = fc
  .array(
    fc.record({ figures: fc.option(figures, { freq: 3 }), ticks: fc.integer({ min: 1, max: 4 }) }),
    {
      minLength: 12,
      maxLength: 12,
    },
  )
  .map((spans) =>
    spans
      .flatMap(({ figures, ticks }) => Array.from({ length: ticks }, () => figures))
      .slice(0, 12),
  )

test('signals agree with a slow reference over the whole course, with a restart at any tick', (t) => {
  fc.assert(
    fc.property(
      fc.array(course, { minLength: 1, maxLength: 3 }),
      fc.array(fc.array(condition, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
      fc.nat(11),
      (courses, lists, killedAt) => {
        const strategies = lists.map((list, at) => strategy(`s${at}`, ...list))
        const ticks = ticksOf(courses)
        const fired: Signal[] = []
        let firings = new SignalDetector()
        for (const [index, tick] of ticks.entries()) {
          const signals = firings.detect(strategies, tick)
          fired.push(...signals)
          firings.add(signals)
          firings.forget(tick.left)
          if (index !== killedAt) continue
          firings = new SignalDetector()
          firings.add(fired) // read back from storage
        }
        const seen = new Set<string>()
        const expected = ticks.flatMap(({ at, listed }) =>
          [...listed]
            .sort((a, b) => (a.mint < b.mint ? -1 : 1))
            .flatMap((token) =>
              strategies.flatMap((one) => {
                const listing = `${one.name} ${token.mint} ${token.enteredAt}`
                if (seen.has(listing) || !one.conditions.every((c) => slowly(c, token, at)))
                  return []
                seen.add(listing)
                return [`${at} ${listing}`]
              }),
            ),
        )
        t.deepEqual(
          fired.map(
            ({ firedAt, strategy, mint, entry }) => `${firedAt} ${strategy} ${mint} ${entry}`,
          ),
          expected,
        )
      },
    ),
    { numRuns: 300 },
  )
})

function ticksOf(courses: readonly (readonly (Partial<WatchedToken> | null)[])[]) {
  const entries = courses.map(() => 0)
  return Array.from({ length: 12 }, (_, index): Pick<WatchlistTick, 'at' | 'listed' | 'left'> => {
    const at = AT + 10 * index
    const left = courses.flatMap((course, mint) =>
      index > 0 && course[index - 1] != null && course[index] == null
        ? [{ mint: `m${mint}`, entry: entries[mint] ?? 0 }]
        : [],
    )
    const listed = courses.flatMap((course, mint) => {
      const figures = course[index]
      if (figures == null) return []
      if (index === 0 || course[index - 1] == null) entries[mint] = at
      return [
        anExactToken({
          ...figures,
          mint: `m${mint}`,
          enteredAt: entries[mint] ?? 0,
          at: changedAt(course, index),
        }),
      ]
    })
    return { at, listed: listed.reverse(), left }
  })
}

/** The tick at which a token last changed. */
function changedAt(course: readonly unknown[], index: number): number {
  const same = course
    .slice(0, index)
    .reverse()
    .findIndex((figures) => figures !== course[index])
  return AT + 10 * (same === -1 ? 0 : index - same)
}

function slowly({ field, op, threshold }: Condition, token: ExactToken, at: number): boolean {
  const value = {
    wallets_holding: token.walletsHolding,
    multiple: whole(token.multiple),
    'momentum.mcap.value': whole(token.momentum.mcap.value),
    state: token.state,
    watchlist_seconds: at - token.enteredAt,
  }[field]
  if (value === undefined || value === null) return false
  if (op === '=') return value === threshold
  if (op === '!=') return value !== threshold
  if (op.startsWith('>') && value > threshold) return true
  if (op.startsWith('<') && value < threshold) return true
  return op.endsWith('=') && value === threshold
}

/** The figures of this test are whole numbers. */
function whole(value: Fraction | null): number | null {
  return value === null ? null : Number(value.numerator / value.denominator)
}
