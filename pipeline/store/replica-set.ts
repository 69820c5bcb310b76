import { ServiceError } from '../domain/service-error.ts'
import type { Logger } from '../runtime/logger.ts'
import { pause } from '../runtime/pause.ts'
import type { Engine } from './engine.ts'
import { ReachedPositions } from './reached-positions.ts'
import type { Download, QueryParams, Replicas, WorkerPosition } from './store.ts'
import { clickhouseCode, storeError } from './store-error.ts'
import { POSITIONS, type PositionRow } from './tables/progress.ts'

/** A server of a replica set. */
export interface Replica {
  /** Host and port, for messages. */
  readonly host: string
  readonly engine: Engine
  /** The same server over connections with a short timeout, which no query keeps busy. */
  readonly checks: Engine
}

/** Why a server is not used. One that only cannot write still serves reads. */
type Fault =
  | 'does not answer'
  | 'lacks what this process has seen'
  | 'cannot write'
  | `fails a check (code ${number})`

/**
 * Codes with which a server says that it cannot write now, while another one may: no Keeper,
 * read-only tables, a full disk and a file that ends too early because of it, not in the quorum.
 * Source: ErrorCodes.cpp of ClickHouse.
 */
const CANNOT_WRITE = new Set([33, 225, 242, 243, 289, 999])

/** How often the server in use is checked, in milliseconds. */
const CHECK_EVERY_MS = 2000

/**
 * An engine over replicas (rule K13). It uses one server until that one does not answer, cannot
 * write, or lacks what this process has written or read. Then it uses the next one of the list that
 * is fit. While none is, calls reject with `unavailable`.
 *
 * A read that fails because of its server is repeated once. A write is not: its caller repeats it,
 * with the same deduplication token.
 */
export class ReplicaSet implements Engine, Replicas {
  readonly kind = 'clickhouse'
  readonly cluster: string | null
  readonly #replicas: readonly Replica[]
  readonly #logger: Logger | undefined
  /** What this process wrote or read. A server that lacks some of it is not used. */
  readonly #reached = new ReachedPositions()
  /** Positions whose rows the server in use has in every table. */
  readonly #arrived = new ReachedPositions()
  /** Ends when no arrival is under way. */
  #arrival: Promise<void> = Promise.resolve()
  /** The arrival after that one, which has not begun. */
  #nextArrival: Promise<void> | null = null
  readonly #closing = new AbortController()
  /** The server in use; null while none is fit. */
  #current: Replica | null = null
  /** The server that was in use last; null before the first. */
  #last: Replica | null = null
  #choosing: Promise<Replica> | null = null
  /** The calls under way. */
  readonly #calls = new Set<{ replica: Replica; giveUp: (error: Error) => void }>()
  readonly #watching: Promise<void>

  /** `cluster`: null where ClickHouse does not replicate the tables of these servers. */
  constructor(replicas: readonly Replica[], cluster: string | null, logger?: Logger) {
    this.#replicas = replicas
    this.cluster = cluster
    this.#logger = logger
    this.#watching = this.#watch()
  }

  read(sql: string, params?: QueryParams): Promise<unknown[]> {
    return this.#call((engine) => engine.read(sql, params), true)
  }

  run(sql: string, params?: QueryParams): Promise<void> {
    return this.#call((engine) => engine.run(sql, params), false)
  }

  insert(sql: string, data: string | Uint8Array): Promise<void> {
    return this.#call((engine) => engine.insert(sql, data), false)
  }

  download(sql: string, params?: QueryParams, queryId?: string): Promise<Download> {
    return this.#call(async (engine) => {
      if (engine.download === undefined) throw new TypeError('a replica is a server')
      return engine.download(sql, params, queryId)
    }, false)
  }

  ping(): Promise<void> {
    return this.#call((engine) => engine.ping(), true)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#watching
    const closed = this.#replicas.map(({ engine, checks }) =>
      Promise.all([engine.close(), checks.close()]),
    )
    // Calls to the other servers were given up. One that hangs would delay the end.
    if (this.#current !== null) await closed[this.#replicas.indexOf(this.#current)]
  }

  remember(positions: readonly WorkerPosition[]): void {
    for (const position of positions) this.#reached.add(position)
  }

  async arriveAt(positions: readonly WorkerPosition[]): Promise<void> {
    const newer = positions.filter((position) => this.#arrived.isNew(position))
    if (newer.length === 0) return
    // Before the wait: a server that is chosen meanwhile has them, and has caught up.
    this.remember(newer)
    await this.#arriveTogether()
    for (const position of newer) this.#arrived.add(position)
  }

  /** Catches up in every table. Calls that come while it does so share the next time. */
  #arriveTogether(): Promise<void> {
    this.#nextArrival ??= this.#arrival.then(() => {
      this.#nextArrival = null
      const arrival = this.catchUp()
      this.#arrival = arrival.catch(() => {})
      return arrival
    })
    return this.#nextArrival
  }

  async catchUp(tables?: readonly string[]): Promise<void> {
    try {
      await catchUp(this.#current ?? (await this.#choose()), this.cluster, tables)
    } catch (error) {
      throw storeError(error)
    }
  }

  async #call<T>(run: (engine: Engine) => Promise<T>, isRead: boolean): Promise<T> {
    const replica = this.#current ?? (await this.#choose())
    try {
      const result = await this.#unlessLost(replica, run(replica.engine))
      // The next read goes to the server that took its place meanwhile.
      if (!isRead && replica !== this.#current) await this.catchUp()
      return result
    } catch (error) {
      const code = clickhouseCode(error)
      const cannotWrite = code !== null && CANNOT_WRITE.has(code)
      if ((code !== null && !cannotWrite) || error instanceof ServiceError) throw error
      const next = await this.#choose(cannotWrite ? { replica, fault: 'cannot write' } : undefined)
      if (!isRead) throw error
      return this.#unlessLost(next, run(next.engine))
    }
  }

  /** Settles as `work` does, or rejects once its server was left because it does not answer. */
  async #unlessLost<T>(replica: Replica, work: Promise<T>): Promise<T> {
    let giveUp: (error: Error) => void = () => {}
    const lost = new Promise<never>((_, reject) => {
      giveUp = reject
    })
    const call = { replica, giveUp }
    this.#calls.add(call)
    try {
      return await Promise.race([work, lost])
    } finally {
      this.#calls.delete(call)
    }
  }

  /** Chooses a server. `known` is not checked again. Concurrent calls share one choice. */
  #choose(known?: { replica: Replica; fault: Fault }): Promise<Replica> {
    this.#choosing ??= this.#chooseNow(known).finally(() => {
      this.#choosing = null
    })
    return this.#choosing
  }

  async #chooseNow(known?: { replica: Replica; fault: Fault }): Promise<Replica> {
    const before = this.#current
    const at = this.#last === null ? 0 : this.#replicas.indexOf(this.#last)
    const order = [...this.#replicas.slice(at), ...this.#replicas.slice(0, at)]
    const faults = await Promise.all(
      order.map((one) => (one === known?.replica ? known.fault : this.#faultOf(one))),
    )
    const first = (fault: Fault | null) => order[faults.indexOf(fault)]
    let next = first(null) ?? first('cannot write') ?? null
    if (next !== null && next !== before && this.#last !== null) {
      this.#current = null // calls wait, so that nothing more is written elsewhere
      const fault = await catchUp(next, this.cluster).then(() => null, failedCheck)
      if (fault !== null) {
        faults[order.indexOf(next)] = fault
        next = null
      }
    }
    this.#current = next
    const hosts = order.map(({ host }, n) => `${host} ${faults[n] ?? 'is fit'}`).join(', ')
    if (next !== before && this.#last !== null) {
      const change = { from: before?.host ?? null, to: next?.host ?? null, hosts }
      this.#logger?.warn(change, 'replica changed')
    }
    this.#last = next ?? this.#last
    if (next === null)
      throw new ServiceError('unavailable', `no ClickHouse server can be used: ${hosts}`)
    return next
  }

  async #faultOf(replica: Replica): Promise<Fault | null> {
    const { checks } = replica
    const isCurrent = replica === this.#current
    try {
      const [row] = await checks.read(this.cluster === null ? 'SELECT 0 AS n' : READ_ONLY_TABLES)
      if (!this.#reached.isEmpty) {
        if (!isCurrent) await catchUp(replica, this.cluster)
        const rows = (await checks.read(POSITIONS)) as PositionRow[] // as selected
        if (this.#reached.isMissingIn(rows)) return 'lacks what this process has seen'
      }
      return Number((row as { n: unknown } | undefined)?.n) > 0 ? 'cannot write' : null
    } catch (error) {
      const code = clickhouseCode(error)
      if (code === null || !isCurrent) return failedCheck(error)
      return CANNOT_WRITE.has(code) ? 'cannot write' : null // an overloaded server stays in use
    }
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closing
    for (; !signal.aborted; await pause(CHECK_EVERY_MS, signal)) {
      const current = this.#current
      if (current === null) continue
      const fault = await this.#faultOf(current)
      if (fault === null || signal.aborted || current !== this.#current) continue
      const next = await this.#choose({ replica: current, fault }).catch(() => null)
      if (fault !== 'does not answer' || next === current) continue
      for (const { replica, giveUp } of this.#calls)
        if (replica === current) giveUp(new Error('the server does not answer'))
    }
  }
}

function failedCheck(error: unknown): Fault {
  const code = clickhouseCode(error)
  return code === null ? 'does not answer' : `fails a check (code ${code})`
}

const READ_ONLY_TABLES =
  'SELECT count() AS n FROM system.replicas WHERE database = currentDatabase() AND is_readonly'

const REPLICATED_TABLES = `SELECT name FROM system.tables
  WHERE database = currentDatabase() AND engine LIKE 'Replicated%' LIMIT 1000`

/**
 * Resolves once a server has everything that was stored before on any server of its cluster, in
 * these tables; by default in all. Each table is replicated by itself, so each is waited for.
 * Without a cluster it resolves at once.
 */
async function catchUp(
  { checks }: Replica,
  cluster: string | null,
  tables?: readonly string[],
): Promise<void> {
  if (cluster === null) return
  const names = tables ?? (await readReplicatedTables(checks))
  await Promise.all(names.map((name) => checks.run(`SYSTEM SYNC REPLICA ${name} LIGHTWEIGHT`)))
}

async function readReplicatedTables(checks: Engine): Promise<string[]> {
  const rows = (await checks.read(REPLICATED_TABLES)) as { name: string }[] // as selected
  return rows.map(({ name }) => name)
}
