import type { Role } from '../../../pipeline/config.ts'
import { endedForLackOfServer, FENCED } from '../../simulate/deployed.ts'
import { within } from '../../simulate/patience.ts'
import { until } from '../../whole-service/customer.ts'
import { freePort } from '../../whole-service/free-port.ts'
import { type ServiceProcess, startProcess } from '../../whole-service/service-process.ts'

/** A process has ten seconds to stop (rule J5). */
const STOPS_MS = 60_000
const NO_ANSWER = 'no answer'

/** One process of the fleet, which is replaced by others. */
export interface Member {
  readonly role: Role
  /** Port of its `/readyz`. */
  readonly metricsPort: number
  readonly env: Readonly<Record<string, string>>
  process: ServiceProcess | null
  /** Starts the same build again. */
  restart: () => void
}

/** What a fleet has instead of two processes of each role, started with Node's own options. */
export interface FleetOptions {
  /** Processes of each role; default 2. */
  readonly each?: number
  /** Options of Node for every process. */
  readonly nodeOptions?: readonly string[]
  /** Longest time in milliseconds until a started process is ready; default three minutes. */
  readonly readyMs?: number
}

/** Processes of each role, and their supervisor. */
export class Fleet {
  readonly members: readonly Member[]
  /** How often an ingest took over without need, because the leader was slow. */
  takeovers = 0

  readonly #nodeOptions: readonly string[]
  readonly #readyMs: number

  private constructor(members: readonly Member[], options: FleetOptions) {
    this.members = members
    this.#nodeOptions = options.nodeOptions ?? []
    this.#readyMs = options.readyMs ?? 180_000
  }

  /** `env`: of every process. The first API listens on its `PORT`. Starts nothing. */
  static async create(
    env: Readonly<Record<string, string>>,
    options: FleetOptions = {},
  ): Promise<Fleet> {
    const { each = 2 } = options
    const failover = { INGEST_FAILOVER: String(each > 1) }
    const members: Member[] = []
    for (const role of ['api', 'workers', 'ingest', 'webhooks'] as const)
      for (let place = 0; place < each; place += 1) {
        const metricsPort = await freePort()
        const port = role === 'api' && place > 0 ? { PORT: String(await freePort()) } : {}
        const own = { ROLES: role, METRICS_PORT: String(metricsPort), ...failover }
        members.push({
          role,
          metricsPort,
          env: { ...env, ...own, ...port },
          process: null,
          restart: () => {},
        })
      }
    return new Fleet(members, options)
  }

  of(role: Role): readonly Member[] {
    return this.members.filter((member) => member.role === role)
  }

  /** Starts a member with the build in `root`. Does not wait for it. */
  start(member: Member, root: string, env: Readonly<Record<string, string>> = {}): void {
    member.restart = () => {
      const all = { ...member.env, ...env }
      member.process = startProcess('infra/service/main.js', all, [], this.#nodeOptions, root)
    }
    member.restart()
  }

  /**
   * Stops a member and starts the build in `root` in its place. Resolves when that is ready, with
   * the milliseconds that it took. Rejects if the former process did not end in order.
   */
  async replace(
    member: Member,
    root: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const startedAt = performance.now()
    await this.exchange(member, root, env)
    await this.ready(member)
    return performance.now() - startedAt
  }

  /** Like `replace`, but does not wait until the new process is ready. */
  async exchange(
    member: Member,
    root: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await this.end(member)
    this.start(member, root, env)
  }

  /** Stops a member. Rejects if it does not end in order. */
  async end(member: Member): Promise<void> {
    const { role, process } = member
    member.process = null // its end is in order
    const code = await within(STOPS_MS, `${role} to stop`, process?.stop() ?? Promise.resolve(0))
    if (code !== 0) throw new Error(`${role} ended with ${code}\n${process?.stderr().slice(-3000)}`)
  }

  /** Resolves when a member is ready. Rejects if it ends before. */
  ready(member: Member): Promise<string> {
    return this.#until(member, (text) => text === '')
  }

  /** Resolves when a member answers, ready or not. Rejects if it ends before. */
  answers(member: Member): Promise<string> {
    return this.#until(member, (text) => text !== NO_ANSWER)
  }

  #until(member: Member, isSo: (readiness: string) => boolean): Promise<string> {
    const ask = () => {
      this.supervise()
      return readiness(member)
    }
    return until(ask, isSo, this.#readyMs)
  }

  /**
   * Starts a former leader of ingest again, and what ended at its start because a server did not
   * answer (rule J1). Throws if another member has ended by itself.
   */
  supervise(): void {
    for (const member of this.members) {
      const { role, process, restart } = member
      if (!process?.hasEnded()) continue
      const said = process.stderr().trimEnd()
      if (said.endsWith(FENCED)) this.takeovers += 1
      else if (!endedForLackOfServer(said)) throw new Error(`${role} ended\n${said.slice(-3000)}`)
      restart()
    }
  }

  /** Stops every process; returns a text for each that did not end with 0. */
  async stop(): Promise<string[]> {
    const ends = this.members.map(async (member) => {
      const { role, process } = member
      member.process = null
      const code = await process?.stop()
      return code === 0 ? [] : [`${role} ended with ${code}\n${process?.stderr().slice(-2000)}`]
    })
    return (await Promise.all(ends)).flat()
  }

  /** Kills what still runs. */
  async close(): Promise<void> {
    await Promise.all(this.members.map(({ process }) => process?.kill()))
  }
}

/** What `/readyz` of a member says; empty when it is ready. */
export async function readiness({ metricsPort }: Member): Promise<string> {
  try {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/readyz`)
    return response.ok ? '' : await response.text()
  } catch {
    return NO_ANSWER
  }
}
