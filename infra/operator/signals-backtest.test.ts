import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { signalItem } from '../../api/items/signal.ts'
import { readSignalsAfter } from '../../api/rows/signal-rows.ts'
import { openEmbeddedStore } from '../../api/testing/open-stores.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { Rational } from '../../pipeline/testing/rational.ts'
import { parseStrategies } from '../../pipeline/trending/strategies-file.ts'
import { createTrendingMetrics } from '../../pipeline/workers/telemetry.ts'
import { createStrategyRunner } from '../../pipeline/workers/trending/strategy-runner.ts'
import { startTrending } from '../../pipeline/workers/trending/trending.ts'
import { replayTicks } from '../../pipeline/workers/trending/trending-ticks.ts'
import { fillWithHistory } from '../simulator/fill-store.ts'
import { portableArgs, runCommand } from './commands.ts'
import type { OperatorParts } from './parts.ts'
import type { Progress } from './progress.ts'

/* Compares backtests over simulated history with what the worker fires over it (rule G5). */

const HOURS = 6
const logger = createLogger('silent')
const folder = mkdtempSync(join(tmpdir(), 'backtest-'))
const FILE = join(folder, 'strategies.json')
const STRATEGIES = `{ "strategies": [
  { "name": "held_by_three", "description": "Three hold.", "conditions": [
    { "field": "wallets_holding", "op": ">=", "value": 3 }
  ] },
  { "name": "bought", "description": "On the list for a while, and bought.", "conditions": [
    { "field": "watchlist_seconds", "op": ">=", "value": 1200 },
    { "field": "state", "op": "=", "value": "accumulating" }
  ] },
  { "name": "fallen", "description": "Fell within the hour.", "conditions": [
    { "field": "momentum.mcap.trend", "op": "=", "value": "down" },
    { "field": "multiple", "op": "<", "value": 1 }
  ] }
] }`

let opened: Awaited<ReturnType<typeof openEmbeddedStore>>
let store: Store
let parts: OperatorParts
/** The first and the last tick of the history. */
let from = 0
let through = 0

test.before(async () => {
  writeFileSync(FILE, STRATEGIES)
  opened = await openEmbeddedStore()
  store = opened.store
  const { firstTime, lastTime } = await fillWithHistory(store, { hours: HOURS })
  from = Math.ceil(firstTime / 10) * 10
  through = Math.floor((lastTime - 1) / 10) * 10
  const only = {
    store,
    salt: null,
    solPriceMaxAgeSeconds: 3600,
    stop: new AbortController().signal,
  }
  parts = only as OperatorParts // nothing else is used
})
test.after.always(async () => {
  await opened.remove()
  rmSync(folder, { recursive: true })
})

interface Document {
  readonly from: number
  readonly to: number
  readonly ticks: number
  readonly strategies: readonly {
    readonly strategy: string
    readonly summary: {
      readonly signals: number
      readonly multiple_1h: object
      readonly multiple_24h: object
    }
    readonly signals: readonly (Record<string, unknown> & {
      readonly id: string
      readonly fired_at: number
      readonly mint: string
      readonly trigger_mcap: number
    })[]
  }[]
}

async function backtest(...args: string[]): Promise<Document> {
  const command = ['signals', 'backtest', '--strategy', FILE, ...args]
  const { document } = await runCommand(command, parts, (progress) => reports.push(progress))
  return document as Document // as the command says
}
const reports: Progress[] = []

/** Runs the trending worker with its strategies up to tick `until`, then stops it. */
async function runWorker(until: number): Promise<void> {
  const registry = createRegistry()
  const strategies = parseStrategies(STRATEGIES, FILE)
  const signals = createStrategyRunner({ store, strategies, logger, registry })
  let reached: () => void = () => {}
  const there = new Promise<void>((settle) => {
    reached = settle
  })
  const trending = startTrending(
    {
      store,
      logger,
      metrics: createTrendingMetrics(registry),
      isMine: () => true,
      async onTick(tick) {
        await signals.onTick(tick)
        if (tick.at >= until) reached()
      },
      onBug(error) {
        throw error
      },
    },
    { salt: null, solPriceMaxAgeSeconds: 3600 },
  )
  await there
  await trending.stop()
}

test.serial(
  'a backtest fires what the worker fired over the same history, with restarts: same rows and times',
  async (t) => {
    // The worker continues after the last stored tick.
    const before = from - 10
    await store.insert('progress', [
      {
        worker: 'trending',
        partition: 0,
        partitions: 1,
        slot: before,
        parent: 0,
        block_time: before,
      },
    ])
    const half = from + 10 * Math.floor((through - from) / 20)
    await runWorker(half)
    await runWorker(through)
    const live = (await readSignalsAfter(store, 0, through)).map(signalItem)
    const { strategies, ...range } = await backtest('--from', String(from))
    t.deepEqual(range, { from, to: through, ticks: (through - from) / 10 + 1 })
    const replayed = strategies.flatMap(({ strategy, signals }) =>
      signals.map(({ multiple_1h, multiple_24h, peak_multiple, peak_at, ...signal }) => ({
        ...signal,
        strategy,
        current_mcap: signal.trigger_mcap,
        multiple: signal.trigger_mcap === null ? null : 1,
      })),
    )
    const order = (a: { fired_at: number; id: string }, b: typeof a) =>
      a.fired_at - b.fired_at || (a.id < b.id ? -1 : 1)
    t.deepEqual(replayed.sort(order), live.sort(order) as object[])
    t.true(strategies.every(({ signals }) => signals.length > 0))
    const [stored] = await store.query<{ n: string }>('SELECT count() AS n FROM signals')
    t.is(Number(stored?.n), live.length) // the backtest wrote nothing, the restart nothing twice
  },
)

test.serial('the outcome of each signal follows from the ticks after it', async (t) => {
  const { strategies } = await backtest('--from', String(from), '--name', 'held_by_three')
  t.deepEqual(
    strategies.map(({ strategy }) => strategy),
    ['held_by_three'],
  )
  const [{ signals, summary }] = strategies as [(typeof strategies)[0]] // one, as compared
  /** Every known market cap of each token, tick by tick. */
  const courses = new Map<string, [number, Rational][]>(signals.map(({ mint }) => [mint, []]))
  const range = { from, through }
  for await (const { at, mcapOf } of replayTicks(
    store,
    { salt: null, solPriceMaxAgeSeconds: 3600 },
    range,
  ))
    for (const [mint, course] of courses) {
      const known = mcapOf(mint)
      const mcap =
        known === null ? course.at(-1)?.[1] : new Rational(known.numerator, known.denominator)
      if (mcap !== undefined) course.push([at, mcap])
    }
  const expected = signals.map(({ fired_at, mint }) => {
    const course = courses.get(mint) ?? []
    const after = (seconds: number) => course.find(([at]) => at === fired_at + seconds)?.[1] ?? null
    const later = course.filter(([at]) => at >= fired_at && at <= fired_at + 86_400)
    const [[, trigger]] = later as [(typeof later)[0]] // its market cap is known
    const multiple = (mcap: Rational | null) => mcap?.per(trigger).toNumber() ?? null
    const peak = later.reduce((most, [, mcap]) => (mcap.isAbove(most) ? mcap : most), trigger)
    return {
      multiple_1h: multiple(after(3600)),
      multiple_24h: multiple(after(86_400)),
      peak_multiple: multiple(peak),
      peak_at: later.find(([, mcap]) => mcap === peak)?.[0],
    }
  })
  t.deepEqual(
    signals.map(({ multiple_1h, multiple_24h, peak_multiple, peak_at }) => ({
      multiple_1h,
      multiple_24h,
      peak_multiple,
      peak_at,
    })),
    expected as never[],
  )
  const known = expected.flatMap(({ multiple_1h }) => (multiple_1h === null ? [] : [multiple_1h]))
  known.sort((a, b) => a - b)
  t.true(known.length > 2)
  t.deepEqual(summary.signals, signals.length)
  const [low = 0, high = 0] = [known[Math.ceil(known.length / 2) - 1], known[known.length >> 1]]
  t.deepEqual(summary.multiple_1h, {
    known: known.length,
    median: (low + high) / 2,
    share_above_1: known.filter((one) => one > 1).length / known.length,
  })
  t.deepEqual(summary.multiple_24h, { known: 0, median: null, share_above_1: null })
})

test.serial(
  'in a backtest that begins later the strategies come into force at its begin',
  async (t) => {
    const middle = from + 9_000
    reports.length = 0
    const { strategies, ...range } = await backtest(
      '--from',
      new Date(middle * 1000).toISOString(),
      '--to',
      String(middle + 605),
    )
    t.deepEqual(range, { from: middle, to: middle + 600, ticks: 61 })
    const [first] = strategies
    t.true((first?.signals ?? []).some(({ fired_at }) => fired_at === middle))
    t.deepEqual(reports.at(-1), {
      what: 'ticks',
      done: 61,
      total: 61,
      detail: { what: 'signals', done: strategies.flatMap(({ signals }) => signals).length },
    })
    t.deepEqual(await backtest('--from', '4000000000'), {
      from: null,
      to: null,
      ticks: 0,
      strategies: (await backtest('--from', '4000000000')).strategies,
    } as never)
  },
)

test.serial('an error of a backtest names the option at fault', async (t) => {
  const refused = async (...args: string[]) => {
    const error = await runCommand(['signals', 'backtest', ...args], parts, () => {}).then(
      () => null,
      (reason: unknown) => reason,
    )
    return error instanceof ServiceError ? `${error.code}: ${error.message}` : String(error)
  }
  t.is(await refused(), 'invalid_argument: --strategy: required; --from: required')
  t.is(
    await refused('--strategy', FILE, '--from', 'yesterday'),
    'invalid_argument: --from: expected a time, for example 2026-11-20T08:00:00Z or 1790000000',
  )
  t.is(
    await refused('--strategy', FILE, '--from', '2', '--to', '1'),
    'invalid_argument: --from: later than --to',
  )
  t.is(
    await refused('--strategy', FILE, '--from', '1', '--name', 'other'),
    'invalid_argument: --name: no such strategy; there are held_by_three, bought, fallen',
  )
  const bad = join(folder, 'bad.json')
  writeFileSync(bad, '{"strategies": [{"name": "x", "description": "d", "conditions": []}]}')
  t.is(
    await refused('--strategy', bad, '--from', '1'),
    `bad_strategies_file: --strategy: 1 fault in ${bad}:\n  line 1:65, strategy x, conditions: expected a list of 1 to 32 conditions`,
  )
  t.is(
    await refused('--strategy', join(folder, 'absent'), '--from', '1'),
    `bad_config: --strategy: cannot read ${join(folder, 'absent')}: there is no such file`,
  )
})

test('the strategy file of a backtest becomes an absolute path for a process in another folder', (t) => {
  const args = ['signals', 'backtest', '--strategy', 'mine.json', '--from', '1']
  t.deepEqual(portableArgs(args), [
    'signals',
    'backtest',
    '--strategy',
    join(process.cwd(), 'mine.json'),
    '--from',
    '1',
  ])
  t.deepEqual(portableArgs(['wallets']), ['wallets'])
})
