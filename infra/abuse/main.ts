import { setTimeout as sleep } from 'node:timers/promises'
import { print } from '../bench/kit/figures.ts'
import { readOptions } from '../bench/kit/options.ts'
import type { Burst } from './bursts/burst.ts'
import { CUSTOMERS } from './bursts/customers.ts'
import { STRANGERS } from './bursts/strangers.ts'
import type { AbuseCase } from './case.ts'
import { Cores } from './cores.ts'
import { type Documents, generateCases } from './generate/generate.ts'
import { Monitor } from './monitor.ts'
import { type Run, report } from './report.ts'
import { type Result, runAll, runStop } from './run.ts'
import { isMemoryBack, type Memory } from './samples.ts'
import { type AttackedService, attachService, startAttackedService } from './service.ts'

const USAGE = `npm run -s abuse -- [options]

  --cases N       how many (1000); below 500 a short run: smaller bursts, and no case that takes long
  --seed N        of the generated cases (random, printed)
  --only TEXT     only cases whose title contains the text
  --url URL       attack a service that runs already, with --key, and --metrics for its event loop and memory
  --metrics URL   its /metrics
  --key KEY       an API key of it, with some thousand credits`

const SETTLE_MS = 3000
const QUIET_MS = 10_000
const RECOVERY_MS = 60_000
const SHORT = 500
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

interface Options {
  readonly count: number
  readonly seed: number
}

const BURSTS = [...STRANGERS, ...CUSTOMERS]

async function main(): Promise<void> {
  const seed = Math.floor(Math.random() * 1e6)
  const texts = { only: '', url: '', metrics: '', key: '' }
  const read = readOptions(process.argv.slice(2), USAGE, { cases: 1000, seed, ...texts })
  if (read === null) return
  const { cases, only, url, metrics, key } = read.options
  const options = { count: cases, seed: read.options.seed }
  if (!(cases > 0) || read.words.length > 0) return print(USAGE)
  print(`abuse run: ${options.count} cases, seed ${options.seed}`)
  const run: Run = { results: [], samples: [], calls: [], memory: [], othersParts: [] }
  const chosen = BURSTS.filter(({ title }) => title.includes(only))
  const world =
    url === '' ? await startAttackedService() : await attachService(url, metrics || null, key)
  await attack(world, run, options, {
    cases: (await generate(world, options)).filter(({ title }) => title.includes(only)),
    bursts: chosen.filter(({ env }) => env === undefined),
  })
  for (const burst of url === '' && !isShort(options) ? chosen : [])
    if (burst.env !== undefined)
      await attack(await startAttackedService(burst.env), run, options, {
        cases: [],
        bursts: [burst],
      })
  const { text, missed } = report(run, !isShort(options))
  print(text)
  process.exit(missed.length > 0 ? 1 : 0)
}

const isShort = ({ count }: Options) => count < SHORT
const scaleOf = ({ count }: Options) => Math.min(1, count / 1000)

async function generate({ url }: AttackedService, options: Options): Promise<AbuseCase[]> {
  const read = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json()
  const [openApi, asyncApi] = [await read('/openapi.json'), await read('/asyncapi.json')]
  const documents = { openApi, asyncApi } as Documents // the service's own
  const count = Math.max(1, options.count - BURSTS.length - 1)
  return generateCases(documents, { seed: options.seed, count, isShort: isShort(options) })
}

/**
 * Warms the service up, attacks it, waits until its memory is back, and stops it. Adds the results
 * to the run.
 */
async function attack(
  world: AttackedService,
  run: Run,
  options: Options,
  plan: { readonly cases: readonly AbuseCase[]; readonly bursts: readonly Burst[] },
): Promise<void> {
  const onResult = (result: Result) => {
    ;(run.results as Result[]).push(result)
    if (result.faults.length > 0)
      process.stderr.write(`      FAILED ${result.title}: ${result.faults.join('; ')}\n`)
  }
  const monitor = new Monitor(world, (kind) => process.stderr.write(`${elapsed()} ${kind}\n`))
  const cores = new Cores(world.pids)
  const interrupt = () => void world.remove().then(() => process.exit(1))
  for (const signal of SIGNALS) process.on(signal, interrupt)
  try {
    monitor.start()
    await monitor.enter('warm-up')
    await warmUp(world, options)
    const before = await monitor.memory()
    const since = performance.now()
    await monitor.enter('quiet')
    await sleep(isShort(options) ? QUIET_MS / 2 : QUIET_MS)
    const enter = (kind: string) => monitor.enter(kind)
    const memory = () => monitor.memory()
    await runAll(world, { ...plan, scale: scaleOf(options), enter, memory, onResult })
    await monitor.enter('recovery')
    ;(run.othersParts as number[]).push(cores.othersPart)
    if (before !== null)
      (run.memory as Run['memory'][number][]).push(await recover(monitor, before, since))
    monitor.stop()
    const stopped = await runStop(world)
    if (stopped !== null) onResult(stopped)
  } finally {
    monitor.stop()
    ;(run.samples as Monitor['samples']).push(...monitor.samples)
    ;(run.calls as Monitor['calls']).push(...monitor.calls)
    for (const signal of SIGNALS) process.off(signal, interrupt)
    await world.remove()
  }
}

/**
 * Runs a part of the attack and discards the results, so that caches, the heap's young generation
 * and the store's thread pools reach the size that they keep under attack.
 */
async function warmUp(world: AttackedService, options: Options): Promise<void> {
  const part = { ...options, seed: 0, count: Math.min(SHORT, options.count) / 2 }
  await runAll(world, {
    cases: await generate(world, part),
    bursts: BURSTS.filter(({ env, isBeside }) => env === undefined && !isBeside),
    scale: scaleOf(options) / 5,
    enter: async () => {},
    memory: async () => null,
    onResult: () => {},
  })
  await sleep(SETTLE_MS)
}

/** Polls, for at most a minute, until memory is within 10% of what it was at `since`. */
async function recover(
  monitor: Monitor,
  before: Memory,
  since: number,
): Promise<Run['memory'][number]> {
  const deadline = performance.now() + RECOVERY_MS
  for (;;) {
    const after = (await monitor.memory()) ?? before
    const now = performance.now()
    const isEnough = isMemoryBack(before, after, (now - since) / 1000)
    if (isEnough || now > deadline) return { before, after, isBack: isEnough }
    await sleep(2000)
  }
}

/** Seconds since the run began. */
function elapsed(): string {
  return (performance.now() / 1000).toFixed(0).padStart(5)
}

await main()
