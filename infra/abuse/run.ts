import { setTimeout as sleep } from 'node:timers/promises'
import { sendRequest } from './ask.ts'
import type { Burst } from './bursts/burst.ts'
import { holdingUpgrade } from './bursts/held-connections.ts'
import type { AbuseCase, Placeholders } from './case.ts'
import { runFeedCase } from './feed-socket.ts'
import { reproduce } from './reproduce.ts'
import type { Memory } from './samples.ts'
import type { AttackedService } from './service.ts'
import { judge } from './verdict.ts'
import { type CaseOutcome, openConnection, runHttpCase } from './wire.ts'

/** The outcome of one case. */
export interface Result {
  readonly kind: string
  readonly title: string
  readonly faults: readonly string[]
  readonly serverErrors: number
  readonly ms: number
  /** A line that repeats it, or the figures of a burst. */
  readonly note: string
}

/** Maximum number of credits of a call; one whose response was cut may have been charged. */
const MAX_COST = 3
/** Number of generated cases that begin each second. */
const PER_SECOND = 50

/** The cases to run, and their observer. */
export interface AttackPlan {
  readonly cases: readonly AbuseCase[]
  readonly bursts: readonly Burst[]
  /** Scale of the bursts: 1 for a run of 1,000 cases. */
  readonly scale: number
  /** Called before each kind of case. */
  enter(kind: string): Promise<void>
  memory(): Promise<Memory | null>
  onResult(result: Result): void
}

/**
 * Runs the generated cases, kind by kind, then the bursts; cases that mostly wait run concurrently.
 */
export async function runAll(world: AttackedService, plan: AttackPlan): Promise<void> {
  const { cases, bursts, enter, onResult } = plan
  const ofKind = (kind: AbuseCase['kind']) => cases.filter((one) => one.kind === kind)
  const beside = [
    ...ofKind('slow').map(async (one) => onResult(await runCase(world, one, world.attackers[0]))),
    ...bursts.filter(({ isBeside }) => isBeside).map((burst) => runBurst(world, burst, plan)),
  ]
  for (const kind of ['requests', 'feed', 'connections'] as const) {
    await enter(kind)
    await runKind(world, ofKind(kind), onResult)
  }
  for (const burst of bursts.filter(({ isBeside }) => !isBeside)) {
    await enter(burst.name)
    await runBurst(world, burst, plan)
    await sleep(500)
  }
  await enter('slow')
  await Promise.all(beside)
}

/**
 * Runs cases of one kind; each attacker runs one at a time. Afterwards, each account must have been
 * charged what its responses said.
 */
async function runKind(
  world: AttackedService,
  cases: readonly AbuseCase[],
  onResult: (result: Result) => void,
): Promise<void> {
  const queue = [...cases]
  const started = performance.now()
  let begun = 0
  await Promise.all(
    world.attackers.slice(0, Math.max(1, world.attackers.length - 1)).map(async (attacker) => {
      const before = await creditsLeft(world, attacker)
      let cost = 0
      let unanswered = 0
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        await sleep(Math.max(0, started + (begun++ * 1000) / PER_SECOND - performance.now()))
        const one = world.attackers.length > 1 ? next : limited(next)
        const result = await runCase(world, one, attacker, (seen) => {
          if (seen.answers.length === 0) unanswered++
          for (const { fields } of seen.answers) cost += Number(fields.get('x-credits-cost') ?? 0)
        })
        onResult(result)
      }
      const charged = before - (await creditsLeft(world, attacker)) - 1
      const isComparable = cases[0]?.kind === 'requests' && world.attackers.length > 1
      if (isComparable && (charged < cost || charged > cost + MAX_COST * unanswered))
        onResult({
          kind: 'requests',
          title: 'credits',
          serverErrors: 0,
          ms: 0,
          note: '',
          faults: [`an account was charged ${charged}, its answers said ${cost}`],
        })
    }),
  )
}

/** A case on the account that all cases share, whose limits may refuse it. */
function limited(one: AbuseCase): AbuseCase {
  const { statuses, codes } = one.expect
  return {
    ...one,
    expect: {
      ...one.expect,
      ...(statuses && { statuses: [...statuses, 429] }),
      ...(codes && { codes: [...codes, 'rate_limited'] }),
    },
  }
}

/** The credits left on an account, read by a call of one credit. */
async function creditsLeft({ target }: AttackedService, { key }: Placeholders): Promise<number> {
  const headers = { authorization: `Bearer ${key}` }
  const { fields } = await sendRequest(target, { path: '/wallets?page=10000', headers })
  return Number(fields['x-credits-remaining'])
}

async function runCase(
  world: AttackedService,
  one: AbuseCase,
  attacker: Placeholders | undefined,
  onSeen: (seen: CaseOutcome) => void = () => {},
): Promise<Result> {
  const { act, kind, title } = one
  const values = attacker ?? { key: '', token: '', cursor: '', mint: '' }
  const address = world.address()
  const seen =
    act.via === 'http'
      ? await runHttpCase({ ...one, act }, world.target, address, values)
      : await runFeedCase({ ...one, act }, world.target, address, values)
  onSeen(seen)
  return {
    kind,
    title,
    ms: seen.ms,
    faults: judge(one, seen, [values.key, values.token]),
    serverErrors: seen.answers.filter(({ status }) => status >= 500).length,
    note: reproduce(one, world.target),
  }
}

async function runBurst(
  world: AttackedService,
  { name, title, run }: Burst,
  plan: AttackPlan,
): Promise<void> {
  const started = performance.now()
  const { faults, serverErrors, slowestMs, note } = await run(world, plan.scale, plan.memory)
  const ms = slowestMs || performance.now() - started
  plan.onResult({ kind: name, title, serverErrors, ms, faults, note })
}

/**
 * Stops the service while strangers hold upgrades open: it must exit with 0 within ten seconds
 * (rule J5).
 */
export async function runStop(world: AttackedService): Promise<Result | null> {
  const sockets = Array.from({ length: 50 }, () => {
    const socket = openConnection(world.target, world.address(), true)
    socket.resume().write(holdingUpgrade())
    return socket
  })
  await sleep(500)
  const ended = await world.stop()
  for (const socket of sockets) socket.destroy()
  if (ended === null) return null
  const { code, ms } = ended
  return {
    kind: 'stop',
    title: 'SIGTERM while 50 clients hold upgraded connections',
    serverErrors: 0,
    faults:
      code === 0 && ms < 10_000 ? [] : [`ended with ${code} after ${(ms / 1000).toFixed(1)} s`],
    ms,
    note: `ended with ${code} after ${(ms / 1000).toFixed(1)} s`,
  }
}
