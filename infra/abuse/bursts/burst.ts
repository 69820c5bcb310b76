import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RequestOptions, sendRequest } from '../ask.ts'
import type { Memory } from '../samples.ts'
import type { AttackedService } from '../service.ts'

/** An attack of many requests or connections at once; it counts as one case. */
export interface Burst {
  readonly name: string
  /** The attack in one line, for the report of a failure. */
  readonly title: string
  /**
   * Environment variables in addition to the default ones. A burst that sets any gets a separate
   * service.
   */
  readonly env?: Readonly<Record<string, string>>
  /** Whether the burst mostly waits, and so can run concurrently with other cases. */
  readonly isBeside?: true
  /** `scale` is 1 for a run of 1,000 cases, less for a shorter one. */
  run(
    world: AttackedService,
    scale: number,
    memory: () => Promise<Memory | null>,
  ): Promise<BurstOutcome>
}

/** The faults of a burst, and its figures. */
export interface BurstOutcome {
  readonly faults: readonly string[]
  readonly serverErrors: number
  readonly slowestMs: number
  /** Figures for the report. */
  readonly note: string
}

/** Number of responses by status; status 0 is no response. */
export interface Tally {
  readonly statuses: ReadonlyMap<number, number>
  readonly slowestMs: number
  /** The body of one response of each status. */
  readonly bodies: ReadonlyMap<number, string>
}

interface Barrage {
  readonly count: number
  readonly concurrency: number
  readonly perSecond: number
  /** Client addresses, used in turn. */
  readonly addresses: readonly (string | null)[]
  request(n: number): RequestOptions
}

/** Sends that many requests at a steady pace over keep-alive connections. */
export async function sendAtPace(world: AttackedService, barrage: Barrage): Promise<Tally> {
  const { count, concurrency, perSecond, addresses } = barrage
  const statuses = new Map<number, number>()
  const bodies = new Map<number, string>()
  let slowestMs = 0
  let next = 0
  const started = performance.now()
  const agents = addresses.map(
    (localAddress) =>
      new Agent({ keepAlive: true, ...(localAddress !== null && { localAddress }) }),
  )
  const client = async () => {
    while (next < count) {
      const n = next++
      await sleep(Math.max(0, started + (n * 1000) / perSecond - performance.now()))
      const from = performance.now()
      const agent = agents[n % agents.length]
      const { status, body } = await sendRequest(world.target, {
        ...barrage.request(n),
        ...(agent && { agent }),
      })
      slowestMs = Math.max(slowestMs, performance.now() - from)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      bodies.set(status, body)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  for (const agent of agents) agent.destroy()
  return { statuses, slowestMs, bodies }
}

/** Faults of a tally: only these statuses are allowed. */
export function judgeTally(
  tally: Tally,
  allowed: readonly number[],
  faults: readonly string[] = [],
): BurstOutcome {
  const entries = [...tally.statuses].sort(([a], [b]) => a - b)
  const wrong = entries.filter(([status]) => !allowed.includes(status))
  return {
    faults: [
      ...wrong.map(([status, count]) => `${count} answered ${status || 'not at all'}`),
      ...faults,
    ],
    serverErrors: entries.reduce((sum, [status, count]) => sum + (status >= 500 ? count : 0), 0),
    slowestMs: tally.slowestMs,
    note: entries.map(([status, count]) => `${status || 'lost'}: ${count}`).join(', '),
  }
}

/** Number of answers with a status. */
export const countSent = (tally: Tally, status: number) => tally.statuses.get(status) ?? 0

/** A number for a run of 1,000 cases, scaled down for a shorter one. */
export function scaled(count: number, scale: number): number {
  return Math.max(1, Math.round(count * scale))
}
