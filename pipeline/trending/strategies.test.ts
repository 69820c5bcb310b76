import { readFileSync } from 'node:fs'
import test from 'ava'
import fc from 'fast-check'
import { EXAMPLE_WATCHLIST_ITEM } from '../../api/items/watchlist.ts'
import { ServiceError } from '../domain/service-error.ts'
import { aWatchedToken } from '../testing/a-watched-token.ts'
import { parseStrategies, SHIPPED_STRATEGIES } from './strategies-file.ts'
import { type Condition, evaluate, OPS, type Strategy } from './strategy.ts'
import { STRATEGY_FIELDS } from './strategy-fields.ts'
import { OutcomeTracker } from './strategy-outcomes.ts'
import { type Signal, SignalDetector } from './strategy-signal.ts'
import type { WatchedToken, WatchlistTick } from './watched-token.ts'

const AT = 1_790_000_000

/** The error for a file; null when it is accepted. */
function refusal(text: string): string | null {
  try {
    parseStrategies(text, 's.json')
    return null
  } catch (error) {
    return error instanceof ServiceError ? `${error.code}: ${error.message}` : `thrown: ${error}`
  }
}

const strategy = (name: string, ...conditions: Condition[]): Strategy => ({
  name,
  description: 'For tests.',
  conditions,
})

test('a file of strategies is JSON with comments (rule G5)', (t) => {
  const text = `{
    // what people buy
    "strategies": [
      { "name": "a", "description": "Three hold.", "conditions": [
        { "field": "wallets_holding", "op": ">=", "value": 3 }, /* and */
        { "field": "state", "op": "!=", "value": "distributing" },
        { "field": "near_evict", "op": "=", "value": false }
      ] }
    ]
  }`
  t.deepEqual(parseStrategies(text, 's.json'), [
    {
      name: 'a',
      description: 'Three hold.',
      conditions: [
        { field: 'wallets_holding', op: '>=', threshold: 3 },
        { field: 'state', op: '!=', threshold: 'distributing' },
        { field: 'near_evict', op: '=', threshold: false },
      ],
    },
  ])
  t.deepEqual(parseStrategies('{"strategies": []}', 's.json'), [])
})

const conditions = (...lines: string[]) =>
  `{"strategies": [{"name": "x", "description": "d", "conditions": [\n${lines.join(',\n')}\n]}]}`

const BAD: readonly [string, string, readonly string[]][] = [
  ['invalid JSON', '{"strategies": [', ['line 1:17: invalid JSON: close bracket expected']],
  [
    'two slips',
    '{\n"strategies": [,],\n}',
    ['line 2:16: invalid JSON: value expected', 'line 3:1: invalid JSON: property name expected'],
  ],
  ['empty', '', ['line 1:1: invalid JSON: value expected']],
  ['a list', '[]', ['line 1:1: expected an object of strategies']],
  ['no strategies', '{}', ['line 1:1: missing member strategies']],
  [
    'strategies no list',
    '{"strategies": 1}',
    ['line 1:16, strategies: expected a list of 0 to 100 strategies'],
  ],
  [
    'members that lack and are strange',
    '{"strategies": [\n{"name": "x", "conditons": []}]}',
    [
      'line 2:15, strategies[0]: unknown member "conditons"',
      'line 2:1, strategies[0]: missing member description',
      'line 2:1, strategies[0]: missing member conditions',
    ],
  ],
  [
    'a bad name, no sentence, no conditions',
    '{"strategies": [{"name": "Big One", "description": " ", "conditions": []}]}',
    [
      'line 1:26, strategies[0].name: expected 1 to 64 letters a to z, digits and _, for example early_accumulation',
      'line 1:52, strategies[0], description: expected a sentence of at most 300 characters',
      'line 1:71, strategies[0], conditions: expected a list of 1 to 32 conditions',
    ],
  ],
  [
    'a name twice',
    '{"strategies": [\n{"name": "x", "description": "d", "conditions": [{"field": "multiple", "op": ">", "value": 1}]},\n{"name": "x", "description": "d", "conditions": [{"field": "multiple", "op": ">", "value": 2}]}]}',
    ['line 3:10, strategy x, name: same name as in line 2'],
  ],
  [
    'fields, ops and values, all reported at once',
    conditions(
      '{"field": "convicton", "op": ">=", "value": 60}',
      '{"field": "momentum.holders", "op": ">=", "value": 60}',
      '{"field": "conviction", "op": "=>", "value": 600}',
      '{"field": "pct_held", "op": ">=", "value": "60"}',
      '{"field": "pct_held", "op": ">=", "value": 60}',
      '{"field": "age_seconds", "op": "<", "value": -1}',
      '{"field": "state", "op": ">", "value": "growing"}',
      '{"field": "momentum.mcap.trend", "op": "=", "value": "Up"}',
      '{"field": "near_evict", "op": "=", "value": "true"}',
      '{"field": "multiple", "op": ">", "value": null}',
      '{"field": "multiple", "op": ">", "op": "<"}',
    ),
    [
      'line 2:11, strategy x, conditions[0].field: the watchlist has no field "convicton"; did you mean conviction?',
      `line 3:11, strategy x, conditions[1].field: the watchlist has no field "momentum.holders"; it has ${[...STRATEGY_FIELDS.keys()].join(', ')}`,
      'line 4:31, strategy x, conditions[2] (conviction).op: expected one of >= > <= < = !=',
      'line 4:46, strategy x, conditions[2] (conviction).value: expected a number from 0 to 100',
      'line 5:44, strategy x, conditions[3] (pct_held).value: expected a number from 0 to 1',
      'line 6:44, strategy x, conditions[4] (pct_held).value: expected a number from 0 to 1',
      'line 7:46, strategy x, conditions[5] (age_seconds).value: expected a number of at least 0',
      'line 8:26, strategy x, conditions[6] (state).op: expected one of = !=',
      'line 8:40, strategy x, conditions[6] (state).value: expected one of "discovered", "accumulating", "distributing", "holding"',
      'line 9:54, strategy x, conditions[7] (momentum.mcap.trend).value: expected one of "up", "down", "flat"',
      'line 10:45, strategy x, conditions[8] (near_evict).value: expected true or false',
      'line 11:43, strategy x, conditions[9] (multiple).value: expected a number of at least 0',
      'line 12:34, strategy x, conditions[10]: duplicate member op',
      'line 12:1, strategy x, conditions[10]: missing member value',
    ],
  ],
]

for (const [what, text, lines] of BAD)
  test(`a file is refused with every fault and its place: ${what}`, (t) => {
    const count = lines.length === 1 ? '1 fault' : `${lines.length} faults`
    t.is(
      refusal(text),
      `bad_strategies_file: STRATEGIES_FILE: ${count} in s.json:\n${lines.map((line) => `  ${line}`).join('\n')}`,
    )
  })

test('faults beyond fifty are counted, and a file too long is not read', (t) => {
  const many = conditions(...Array.from({ length: 32 }, () => '{"field": 1, "op": 1, "value": 1}'))
  t.regex(refusal(many) ?? '', /: 64 faults in s\.json:(\n {2}line .*){50}\n {2}and 14 more$/)
  t.regex(refusal(' '.repeat(1_000_001)) ?? '', /is longer than 1000000 characters$/)
})

test('the shipped strategies are valid', (t) => {
  const shipped = parseStrategies(readFileSync(SHIPPED_STRATEGIES, 'utf8'), SHIPPED_STRATEGIES)
  t.deepEqual(
    shipped.map(({ name }) => name),
    [
      'early_accumulation',
      'fresh_co_discovery',
      'conviction_surge',
      'breakout',
      'held_through_dip',
      'distribution_warning',
      'smart_money_exit',
    ],
  )
})

test('the fields of conditions are those of a watchlist item, by path (contract 2.7)', (t) => {
  const paths = (value: object, at = ''): string[] =>
    Object.entries(value).flatMap(([key, member]) =>
      typeof member === 'object' ? paths(member, `${at}${key}.`) : [`${at}${key}`],
    )
  t.deepEqual([...STRATEGY_FIELDS.keys()].sort(), paths(EXAMPLE_WATCHLIST_ITEM).sort())
  const read = Object.fromEntries(
    [...STRATEGY_FIELDS].map(([name, field]) => [name, field.read(aWatchedToken(), AT + 30)]),
  )
  t.deepEqual(read, {
    mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
    symbol: 'Bonk',
    name: 'Bonk Inu',
    age_seconds: 5430,
    discovered_seconds: 4840,
    wallets_holding: 4,
    conviction: 61.75,
    sol_held: 18.4,
    pct_held: 0.85,
    avg_entry_mcap: 412_000.5,
    current_mcap: 824_001,
    multiple: 2,
    band_min: 198_000,
    band_max: 640_300.25,
    buy_volume: 12.5,
    sell_volume: 3.125,
    oldest_hold_seconds: 5330,
    watchlist_seconds: 4830,
    'momentum.mcap.value': 824_001,
    'momentum.mcap.change_pct': 24.5,
    'momentum.mcap.trend': 'up',
    'momentum.holders.value': 4,
    'momentum.holders.change_pct': 100,
    'momentum.holders.trend': 'up',
    'momentum.volume1h.value': 15.625,
    'momentum.volume1h.change_pct': -12.5,
    'momentum.volume1h.trend': 'down',
    'momentum.liquidity.value': 310.75,
    'momentum.liquidity.change_pct': 1.5,
    'momentum.liquidity.trend': 'flat',
    state: 'accumulating',
    near_evict: false,
  })
})

test('a condition compares as its operator says, and never holds for an unknown figure', (t) => {
  const holding = (op: Condition['op'], threshold: Condition['threshold'], field = 'multiple') =>
    [1, 2, 3, null].filter(
      (multiple) =>
        evaluate(strategy('x', { field, op, threshold }), aWatchedToken({ multiple }), AT) !== null,
    )
  t.deepEqual(
    OPS.map((op) => [op, holding(op, 2)]),
    [
      ['>=', [2, 3]],
      ['>', [3]],
      ['<=', [1, 2]],
      ['<', [1]],
      ['=', [2]],
      ['!=', [1, 3]],
    ],
  )
})

const HELD = strategy('held', { field: 'wallets_holding', op: '>=', threshold: 3 })
const YOUNG_AND_UP = strategy(
  'young_and_up',
  { field: 'watchlist_seconds', op: '<=', threshold: 600 },
  { field: 'momentum.mcap.trend', op: '=', threshold: 'up' },
)
const MINT = aWatchedToken().mint

test('a strategy fires once for each stay of a token on the list, with its reasons (rule G5)', (t) => {
  const firings = new SignalDetector()
  const tick = (at: number, strategies: readonly Strategy[], ...listed: WatchedToken[]) => {
    const signals = firings.detect(strategies, { at, listed })
    firings.add(signals)
    return signals
  }
  const names = (signals: readonly Signal[]) => signals.map(({ strategy }) => strategy)
  const entered = { enteredAt: AT }
  t.deepEqual(tick(AT, [HELD, YOUNG_AND_UP], aWatchedToken({ ...entered, walletsHolding: 2 })), [
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
      triggerMcap: 824_001,
      heldLamports: 18_400_000_000n,
      buyLamports: 12_500_000_000n,
      sellLamports: 3_125_000_000n,
      reasons: [
        { field: 'watchlist_seconds', op: '<=', threshold: 600, value: 0 },
        { field: 'momentum.mcap.trend', op: '=', threshold: 'up', value: 'up' },
      ],
    },
  ])
  const token = aWatchedToken(entered)
  t.deepEqual(names(tick(AT + 10, [HELD, YOUNG_AND_UP], token)), ['held'])
  t.deepEqual(names(tick(AT + 20, [HELD, YOUNG_AND_UP], token)), [])
  // A strategy that is added later fires at the first tick it sees.
  const later = strategy('later', { field: 'conviction', op: '>', threshold: 1 })
  t.deepEqual(names(tick(AT + 30, [HELD, later], token)), ['later'])
  firings.forget([{ mint: MINT, entry: AT }])
  const again = aWatchedToken({ enteredAt: AT + 100 })
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
                const stay = `${one.name} ${token.mint} ${token.enteredAt}`
                if (seen.has(stay) || !one.conditions.every((c) => slowly(c, token, at))) return []
                seen.add(stay)
                return [`${at} ${stay}`]
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

test('the outcome of a signal follows from the market caps after it, with any of them unknown', (t) => {
  const known = fc.option(fc.integer({ min: 1, max: 5 }), { freq: 2 })
  const steps = 60 // of half an hour
  fc.assert(
    fc.property(
      fc.array(fc.array(known, { minLength: steps, maxLength: steps }), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.array(fc.record({ step: fc.nat(steps - 1), mint: fc.nat(2) }), { maxLength: 6 }),
      (courses, firings) => {
        const outcomes = new OutcomeTracker()
        const followed: [number, number][] = []
        for (let step = 0; step < steps; step += 1) {
          const mcapOf = (mint: string) => courses[Number(mint)]?.[step] ?? null
          const fired = firings.filter((firing) => firing.step === step)
          followed.push(...fired.map(({ mint }): [number, number] => [step, mint]))
          const signals = fired.map(({ mint }) => ({
            ...SIGNAL,
            mint: String(mint),
            firedAt: AT + 1800 * step,
            triggerMcap: mcapOf(String(mint)),
          }))
          outcomes.add({ at: AT + 1800 * step, mcapOf }, signals)
        }
        const expected = followed.map(([step, mint]) => {
          const course = courses[mint] ?? []
          const trigger = course[step] ?? null
          const nothing = { after1h: null, after24h: null, peak: null, peakAt: null }
          if (trigger === null) return nothing
          const later = course.slice(step, step + 49)
          const last = (count: number) =>
            step + count < steps
              ? (later.slice(0, count + 1).findLast((mcap) => mcap !== null) ?? 0) / trigger
              : null
          const peak = Math.max(...later.map((mcap) => mcap ?? 0))
          const peakAt = AT + 1800 * (step + later.indexOf(peak))
          return { after1h: last(2), after24h: last(48), peak: peak / trigger, peakAt }
        })
        t.deepEqual(
          outcomes.outcomes().map(({ outcome }) => outcome),
          expected,
        )
      },
    ),
    { numRuns: 300 },
  )
})

const SIGNAL = new SignalDetector().detect([HELD], {
  at: AT,
  listed: [aWatchedToken()],
})[0] as Signal // it holds

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
        aWatchedToken({
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

function slowly({ field, op, threshold }: Condition, token: WatchedToken, at: number): boolean {
  const value = {
    wallets_holding: token.walletsHolding,
    multiple: token.multiple,
    'momentum.mcap.value': token.momentum.mcap.value,
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
