import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import bs58 from 'bs58'
import type { Address } from '../../pipeline/domain/address.ts'
import { askOperator } from '../operator/socket.ts'
import { killServers, startServers, stopServers } from '../servers/servers.ts'
import type { Simulator } from '../simulator/simulator.ts'
import type { Deployment } from '../whole-service/deployment.ts'
import type { ServiceProcess } from '../whole-service/service-process.ts'
import { STILL_MS } from './clock.ts'
import type { Query } from './compare.ts'
import type { Part, ServerName, Step } from './script.ts'

export interface DeployedOptions {
  readonly simulator: Simulator
  readonly deployment: Deployment
  readonly parts: readonly Part[]
  /** Folder of the servers that may be ended; null when there are none, or they belong to somebody else. */
  readonly serversDir: string | null
  /** The wallet that is added to the file when the script says so. */
  readonly laterWallet: Address | null
  /** Rows by SQL when the service runs on servers; null: through the operator's socket of the one process. */
  readonly query: Query | null
}

/** The service as it stands, some of it away, and what can be done to it. */
export class Deployed {
  /** Processes and servers that are away. */
  readonly away = new Set<Part | ServerName>()
  readonly commands: Promise<void>[] = []
  readonly #options: DeployedOptions
  readonly #starting: Promise<void>[] = []

  constructor(options: DeployedOptions) {
    this.#options = options
  }

  /** Does what a step says. What takes long goes on meanwhile; `settle` waits for it. */
  async do(step: Step): Promise<void> {
    const { simulator, deployment, laterWallet } = this.#options
    if ('part' in step) return this.#doPart(step.act, step.part)
    if ('server' in step) return this.#doServer(step.act, step.server)
    if (step.act === 'cut') return simulator.disconnect()
    if (step.act === 'operator') {
      this.commands.push(this.#command(step.args))
      return
    }
    const { WALLETS_FILE: file = '' } = deployment.env
    writeFileSync(file, `${readFileSync(file, 'utf8').trim()}\n${laterWallet}\n`)
    for (const part of ['ingest', 'all'] as const)
      if (!this.away.has(part)) deployment.processes.get(part)?.child.kill('SIGHUP')
  }

  /** Brings back what is away, and waits for what was begun. */
  async settle(): Promise<void> {
    await Promise.all(this.#starting)
    for (const part of this.#options.parts)
      if (this.away.has(part)) await this.#doPart('start', part)
    await Promise.all(this.commands)
  }

  /** Runs one query that reads. */
  readonly query: Query = async <T>(sql: string) => {
    const { query } = this.#options
    if (query !== null) return query<T>(sql)
    return ((await this.#operator(['sql', sql])) as { items: T[] }).items // decisions J3
  }

  /** Makes an account with so many credits; gives its key. */
  async createAccount(credits: number): Promise<string> {
    const wallet = bs58.encode(randomBytes(32))
    const args = ['account', 'create', '--wallet', wallet, '--credits', String(credits)]
    return ((await this.#operator(args)) as { api_key: string }).api_key // decisions J3
  }

  /** Processes that ended though nobody ended them. One that found a server away at its start is started again, as a supervisor would. */
  fallen(): ServiceProcess[] {
    const { processes } = this.#options.deployment
    const ended = [...processes].filter(
      ([part, { child }]) =>
        !this.away.has(part as Part) && (child.exitCode !== null || child.signalCode !== null),
    )
    const isEarly = (process: ServiceProcess) => /: nothing answers at /.test(process.stderr())
    for (const [part, process] of ended)
      if (isEarly(process)) this.#options.deployment.start(part as Part)
    return ended.map(([, process]) => process).filter((process) => !isEarly(process))
  }

  /** Stops every process cleanly; gives what did not end with 0. */
  async stop(): Promise<string[]> {
    const ends = [...this.#options.deployment.processes].map(async ([part, process]) => {
      const code = await process.stop()
      return code === 0 ? [] : [`${part} ended with ${code}\n${process.stderr().slice(-2000)}`]
    })
    return (await Promise.all(ends)).flat()
  }

  async #doPart(act: 'kill' | 'stop' | 'start', part: Part): Promise<void> {
    const { deployment } = this.#options
    if (act === 'start') {
      deployment.start(part)
      this.away.delete(part)
      return
    }
    this.away.add(part)
    const process = deployment.processes.get(part)
    const code = act === 'kill' ? await process?.kill() : await process?.stop()
    // One that has just been started knows no signal yet; one that cannot finish because a server is away ends all the same.
    if (act === 'stop' && code !== 0 && code !== 'SIGTERM' && this.away.size === 1)
      throw new Error(`${part} did not stop cleanly (${code})\n${process?.stderr().slice(-2000)}`)
  }

  async #doServer(act: 'kill' | 'stop' | 'start', only: ServerName): Promise<void> {
    const { serversDir } = this.#options
    if (serversDir === null) return
    if (act === 'start') {
      this.#starting.push(
        startServers(serversDir, { only }).then(() => {
          this.away.delete(only)
        }),
      )
      return
    }
    await Promise.all(this.#starting)
    this.away.add(only)
    if (act === 'kill') await killServers(serversDir, { only })
    else await stopServers(serversDir, { only })
  }

  /** A command may fail when what it works on goes away; then it is given again, as an operator would. */
  async #command(args: readonly string[]): Promise<void> {
    for (const deadline = Date.now() + STILL_MS; ; ) {
      const error = await this.#operator(args).then(
        () => null,
        (failed: unknown) => failed,
      )
      if (error === null) return
      if (Date.now() > deadline) throw error
      await pause(500)
    }
  }

  /** Gives what an operator's command prints. The one process of an embedded deployment is asked directly: a command beside it, while it starts, would take its data. */
  async #operator(args: readonly string[]): Promise<unknown> {
    const { query, deployment } = this.#options
    const name = args.join(' ')
    if (query !== null) {
      const { code, document } = await deployment.operator(...args)
      if (code !== 0) throw new Error(`operator ${name}: ${code} ${JSON.stringify(document)}`)
      return document
    }
    const reply = await askOperator(deployment.env.DATA_DIR ?? '', args, () => {})
    if (reply === null) throw new Error(`operator ${name}: the service is away`)
    if (reply.kind === 'error') throw new Error(`operator ${name}: ${reply.message}`)
    return reply.outcome.document
  }
}
