import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import bs58 from 'bs58'
import type { Address } from '../../pipeline/domain/address.ts'
import { askOperator } from '../operator/socket.ts'
import type { ReplicaFault } from '../servers/replica-faults.ts'
import { killServers, serversStatus, startServers, stopServers } from '../servers/servers.ts'
import { fillDisk, fillerOf, freeDisk } from '../servers/small-disks.ts'
import { type NodeName, SERVER_NAMES } from '../servers/state.ts'
import type { Simulator } from '../simulator/simulator.ts'
import type { Deployment } from '../whole-service/deployment.ts'
import type { Query } from './compare.ts'
import type { RelayFault } from './flaky-relay.ts'
import { STALLED_MS, within } from './patience.ts'
import {
  type DeployedPart,
  type EndpointNumber,
  follows,
  type ReplicaNumber,
  roleOf,
  type ScriptStep,
} from './script.ts'

/** Faults of the servers of a cluster. */
export interface ClusterFaults {
  begin(replica: ReplicaNumber, fault: ReplicaFault['fault']): Promise<void>
  end(replica: ReplicaNumber, fault: ReplicaFault['fault']): Promise<void>
  /** Has another Redis server become the master. */
  failOver(): Promise<void>
  /** Environment variables with which a process has a clock that can be set. */
  clockOf(part: DeployedPart): Readonly<Record<string, string>>
  /** Sets the clock of a process this many hours off the right time. */
  setClock(part: DeployedPart, hours: number): void
  /** Sets the fault of the way to a Yellowstone server; null: none. */
  disturb(endpoint: EndpointNumber, how: RelayFault | null): void
  /** Resolves when every Kafka broker has every entry. */
  brokersInSync(): Promise<void>
  /** Folder of a build of the next release, whose schema is applied. */
  readonly nextRoot: string
  close(): void
}

/** Parts of a deployed service, and how to start and query them. */
export interface DeployedOptions {
  readonly simulator: Simulator
  readonly deployment: Deployment
  readonly parts: readonly DeployedPart[]
  /** Environment variables of single processes. */
  readonly envOf: Partial<Readonly<Record<DeployedPart, Readonly<Record<string, string>>>>>
  /** Makes the faults of a cluster's servers; null: they are no cluster. */
  readonly faults: ClusterFaults | null
  /**
   * Folder of the servers that the run may stop; null when there are none, or they are not the
   * run's own.
   */
  readonly serversDir: string | null
  /** The wallet that the script adds to the file. */
  readonly laterWallet: Address | null
  /**
   * Runs a query on the servers; null: queries go through the operator's socket of the one process.
   */
  readonly query: Query | null
  /** Receives progress lines in addition to those of the script. */
  readonly tell: (line: string) => void
}

/**
 * Longest time that a process or server may take to obey. The service itself has ten seconds to
 * stop (rule J5).
 */
const OBEYS_MS = 60_000
/** Timeout for starting or stopping servers, which have shorter timeouts themselves. */
const SERVER_MS = 600_000
const QUERY_MS = 120_000

/** The deployed service and the actions of the script on it. Every wait has a bound. */
export class Deployed {
  /** Processes and servers that are down. */
  readonly away = new Set<DeployedPart | NodeName>()
  readonly #options: DeployedOptions
  readonly #commands: Promise<void>[] = []
  readonly #starting: Promise<void>[] = []
  /** When an operator's command last reported progress, in unix milliseconds. */
  progressedAt = 0
  /** Failures of work in the background. */
  readonly #faults: Error[] = []
  /** Replicas of ClickHouse that have a fault. */
  readonly #faulty = new Set<ReplicaNumber>()
  /** Processes that are stopped by SIGSTOP. */
  readonly #suspended = new Set<DeployedPart>()
  /** Servers that are stopped by SIGSTOP. */
  readonly #suspendedServers = new Set<NodeName>()
  /** Files that fill the disk of a server. */
  readonly #fillers = new Set<string>()
  /** Processes of the next build. */
  readonly #upgraded = new Set<DeployedPart>()
  #isClosed = false

  constructor(options: DeployedOptions) {
    this.#options = options
  }

  /**
   * Whether something is away without which the service may stand still. A cluster goes on without
   * one node or process of each kind, and one replica of ClickHouse.
   */
  get isHalted(): boolean {
    return this.#options.faults === null ? this.away.size > 0 : this.#faulty.size === 2
  }

  /** Whether nothing follows the stream. */
  get isDeaf(): boolean {
    return this.#options.parts.filter(follows).every((part) => this.away.has(part))
  }

  /** Starts a process. */
  start(part: DeployedPart): void {
    const { deployment, envOf, faults } = this.#options
    const root = this.#upgraded.has(part) ? faults?.nextRoot : undefined
    deployment.start(roleOf(part), { ...envOf[part], ...faults?.clockOf(part) }, part, root)
  }

  /** Carries out a step. Slow work continues in the background; `settle` waits for it. */
  async do(step: ScriptStep): Promise<void> {
    const { simulator, deployment, laterWallet, faults } = this.#options
    if (step.act === 'clock') return faults?.setClock(step.part, step.hours)
    if (step.act === 'disturb') return faults?.disturb(step.endpoint, step.how)
    if (step.act === 'clear') return faults?.disturb(step.endpoint, null)
    if ('part' in step) return this.#doPart(step.act, step.part)
    if ('server' in step) return this.#doServer(step.act, step.server)
    if (step.act === 'cut') return simulator.disconnect()
    if (step.act === 'fault') {
      this.#faulty.add(step.replica)
      return faults?.begin(step.replica, step.fault.fault)
    }
    if (step.act === 'mend') {
      this.#faulty.delete(step.replica)
      return faults?.end(step.replica, step.fault.fault)
    }
    if (step.act === 'fail over') {
      this.#starting.push(this.#noted(faults?.failOver() ?? Promise.resolve()))
      return
    }
    if (step.act === 'operator') {
      this.#commands.push(this.#noted(this.#command(step.args).then(() => {})))
      return
    }
    const { WALLETS_FILE: file = '' } = deployment.env
    writeFileSync(file, `${readFileSync(file, 'utf8').trim()}\n${laterWallet}\n`)
    for (const part of ['ingest', 'ingest-2', 'all'] as const)
      if (!this.away.has(part)) deployment.processes.get(part)?.child.kill('SIGHUP')
  }

  /** Waits until the process with the API listens; supervises all processes meanwhile. */
  async listens(part: DeployedPart): Promise<void> {
    const { processes } = this.#options.deployment
    for (const deadline = Date.now() + STALLED_MS; !processes.get(part)?.lines.has('url'); ) {
      this.supervise()
      if (Date.now() > deadline)
        throw new Error(`waited ${STALLED_MS / 1000} s for the API to listen`)
      await pause(50)
    }
  }

  /**
   * Starts every part that is down. Resolves when all starts and background commands have ended.
   */
  async settle(): Promise<void> {
    await Promise.all(this.#starting)
    for (const part of this.#options.parts)
      if (this.away.has(part)) await this.#doPart('start', part)
    await Promise.all(this.#commands)
  }

  /** Runs a read-only query. */
  readonly query: Query = async <T>(sql: string) => {
    const { query } = this.#options
    if (query !== null) return within(QUERY_MS, sql, query<T>(sql))
    return ((await this.#operator(['sql', sql])) as { items: T[] }).items // rule J3
  }

  /** Compares all wallets with the chain. What differs is missing, and will be fetched. */
  async reconcile(): Promise<Record<'missing' | 'unexplained' | 'unverified', number>> {
    const args = ['reconcile', '--wallet', 'all']
    return (await this.#command(args, true)) as never // rule J3
  }

  /** Creates an account with credits, by default of nobody; returns its key. */
  async createAccount(
    credits: number,
    wallet: string = bs58.encode(randomBytes(32)),
  ): Promise<string> {
    const args = ['account', 'create', '--wallet', wallet, '--credits', String(credits)]
    return ((await this.#operator(args)) as { api_key: string }).api_key // rule J3
  }

  /**
   * Starts processes again that ended because a server was down when they started, once the servers
   * are up. Throws when a process ended for any other reason, or work in the background has failed.
   */
  supervise(): void {
    const [fault] = this.#faults
    if (fault) throw fault
    const { deployment, tell } = this.#options
    for (const [name, process] of deployment.processes) {
      const part = name as DeployedPart // they are started by this name
      if (this.away.has(part) || !process.hasEnded()) continue
      const isFenced = process.stderr().trimEnd().endsWith(FENCED)
      if (!isFenced && !endedForLackOfServer(process.stderr())) {
        const { exitCode, signalCode } = process.child
        throw new Error(
          `${part} ended by itself (${exitCode ?? signalCode})\n${process.stderr().slice(-4000)}`,
        )
      }
      const isServerAway = this.isHalted || SERVER_NAMES.some((server) => this.away.has(server))
      if (!isFenced && isServerAway) continue
      tell(`${part} ended: ${process.stderr().trimEnd().split('\n').at(-1)}; starting it again`)
      this.start(part)
    }
  }

  /** The end of what each process has said, for a run that fails. */
  said(): string[] {
    return [...this.#options.deployment.processes].map(
      ([part, process]) => `${part} said: ${process.stderr().slice(-2000)}`,
    )
  }

  /** Stops every process cleanly; returns a text for each that did not end with 0. */
  async stop(): Promise<string[]> {
    const ends = [...this.#options.deployment.processes].map(async ([part, process]) => {
      const code = await within(OBEYS_MS, `${part} to stop`, process.stop())
      return code === 0 ? [] : [`${part} ended with ${code}\n${process.stderr().slice(-2000)}`]
    })
    return (await Promise.all(ends)).flat()
  }

  /** Gives up commands that are being retried. Ends what a failed run has left of its servers. */
  async close(): Promise<void> {
    this.#isClosed = true
    const { serversDir } = this.#options
    for (const filler of this.#fillers) rmSync(filler, { force: true })
    for (const name of this.#suspendedServers) await signalServer(serversDir, name, 'SIGCONT')
    this.#options.faults?.close()
  }

  async #doPart(act: PartAct, part: DeployedPart): Promise<void> {
    const process = this.#options.deployment.processes.get(part)
    if (act === 'upgrade' || act === 'roll back') {
      await this.#doPart('stop', part)
      if (act === 'upgrade') this.#upgraded.add(part)
      else this.#upgraded.delete(part)
      return this.#doPart('start', part)
    }
    if (act === 'suspend') {
      this.away.add(part)
      this.#suspended.add(part)
      return void process?.child.kill('SIGSTOP')
    }
    if (act === 'start') {
      this.away.delete(part)
      if (!this.#suspended.delete(part)) return this.start(part)
      return void process?.child.kill('SIGCONT')
    }
    this.away.add(part)
    const ended = act === 'kill' ? process?.kill() : process?.stop()
    const code = await within(OBEYS_MS, `${act} of ${part}`, ended ?? Promise.resolve(0))
    // A process that has just started has no signal handler yet; one that cannot finish because a
    // server is down ends all the same, and so does an API whose start waits for one (rule J5).
    const isStarting = roleOf(part) === 'api' && !process?.lines.has('url')
    if (act === 'stop' && code !== 0 && code !== 'SIGTERM' && !isStarting && this.away.size === 1)
      throw new Error(`${part} did not stop cleanly (${code})\n${process?.stderr().slice(-2000)}`)
  }

  async #doServer(act: ServerAct, only: NodeName): Promise<void> {
    const { serversDir, faults } = this.#options
    if (serversDir === null) return
    if (act === 'start' && this.#suspendedServers.delete(only)) {
      this.away.delete(only)
      return signalServer(serversDir, only, 'SIGCONT')
    }
    if (act === 'fill') {
      this.away.add(only)
      this.#fillers.add(fillerOf(serversDir, only))
      return fillDisk(serversDir, only)
    }
    if (act === 'start' || act === 'free') {
      const start = act === 'free' ? freeDisk(serversDir, only) : startServers(serversDir, { only })
      const started = within<unknown>(SERVER_MS, `${only} to start`, start)
      this.#starting.push(this.#noted(started.then(() => void this.away.delete(only))))
      return
    }
    await Promise.all(this.#starting)
    if (act === 'lose') await faults?.brokersInSync()
    this.away.add(only)
    if (act === 'suspend') {
      this.#suspendedServers.add(only)
      return signalServer(serversDir, only, 'SIGSTOP')
    }
    const end = act === 'stop' ? stopServers : killServers
    await within(SERVER_MS, `${act} of ${only}`, end(serversDir, { only }))
    if (act !== 'lose') return
    const data = join(serversDir, only, 'data')
    for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true })
  }

  /** Records a failure of background work, which `supervise` reports. */
  #noted(work: Promise<void>): Promise<void> {
    work.catch((error: unknown) => {
      this.#faults.push(error instanceof Error ? error : new Error(String(error)))
    })
    return work
  }

  /**
   * Returns the output of a command. Retries it while it fails because a process or server is down
   * or starts, as an operator would.
   */
  async #command(args: readonly string[], mayFail = false): Promise<unknown> {
    for (const startedAt = Date.now(); ; await pause(500)) {
      try {
        return await this.#operator(args, mayFail)
      } catch (error) {
        const since = Math.max(startedAt, this.progressedAt)
        if (this.#isClosed || Date.now() > since + STALLED_MS) throw error
      }
    }
  }

  /**
   * Returns the output of an operator's command. An embedded deployment is asked through its
   * socket: a second process would take its data while it starts. `mayFail`: its exit code is part
   * of the answer.
   */
  async #operator(args: readonly string[], mayFail = false): Promise<unknown> {
    const { query, deployment } = this.#options
    const name = args.join(' ')
    if (query !== null) {
      const { code, document } = await within(STALLED_MS, name, deployment.operator(...args))
      const isError = 'code' in (document as object) // else it is the command's own (rule J3)
      if (code !== 0 && (isError || !mayFail))
        throw new Error(`operator ${name}: ${code} ${JSON.stringify(document)}`)
      return document
    }
    const asked = askOperator(deployment.env.DATA_DIR ?? '', args, () => {
      this.progressedAt = Date.now()
    })
    const ms = args[0] === 'sql' ? QUERY_MS : STALLED_MS
    const reply = await within(ms, name, asked, () => this.progressedAt)
    if (reply === null) throw new Error(`operator ${name}: the service is down`)
    if (reply.kind === 'error') throw new Error(`operator ${name}: ${reply.message}`)
    return reply.outcome.document
  }
}

type PartAct = Extract<ScriptStep, { part: DeployedPart }>['act']
type ServerAct = Extract<ScriptStep, { server: NodeName }>['act']

async function signalServer(
  dir: string | null,
  only: NodeName,
  signal: NodeJS.Signals,
): Promise<void> {
  const [server] = dir === null ? [] : await serversStatus(dir, { only })
  if (server?.pid) process.kill(server.pid, signal)
}

/** What an ingest says that another one has taken over from (rule K14). */
export const FENCED = 'another process appends to the log now'

/**
 * Whether the last output of a process says that a server does not answer, which ends a process
 * only at its start (rule J1). A bug leaves a stack, or a line of level `error` before.
 */
export function endedForLackOfServer(stderr: string): boolean {
  const last = stderr.trim().split('\n').at(-1) ?? ''
  const isLack =
    /^(?!\{| {4}at ).*(answers? at|no answer from|does not answer|names no master|cannot serve now|cannot be reached)/
  return isLack.test(last) && !/"level":(50|60)/.test(stderr)
}
