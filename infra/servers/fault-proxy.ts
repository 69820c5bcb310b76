import { once, setMaxListeners } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Pool } from 'undici'
import { z } from 'zod'
import { pause } from '../../pipeline/runtime/pause.ts'

/** What a replica does with the requests of one kind. */
const Fault = z.object({
  on: z.enum(['reads', 'writes', 'all']).default('all'),
  /**
   * `refuse`: answers with ClickHouse's error `code` and does nothing. `apply_and_refuse`: the same
   * after the server has executed the request. `cut`: closes the connection. `apply_and_cut`: the
   * same after the server has executed the request. `hang`: never answers.
   */
  how: z.enum(['refuse', 'apply_and_refuse', 'cut', 'apply_and_cut', 'hang']),
  code: z.int().default(0),
  /** The number of requests that fail; default: all until the fault is cleared. */
  times: z.int().default(Number.MAX_SAFE_INTEGER),
})
/** A fault as it is set; see `FaultyReplica.fail`. */
export type Fault = z.input<typeof Fault>

/** A ClickHouse server behind the proxy. */
export interface FaultyReplica {
  readonly port: number
  /** Sets its fault; null: none. */
  fail(fault: Fault | null): void
  /** Whether it lags: writes that the other replica accepted wait until this is false again. */
  lag(isLagging: boolean): void
  /** Resolves when it has every write of the other replica. */
  caughtUp(): Promise<void>
}

/** Two servers that look like two replicas of a cluster. */
export interface FaultProxy {
  readonly replicas: readonly [FaultyReplica, FaultyReplica]
  close(): Promise<void>
}

/** A write, as it is sent to the other server. */
interface Write {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: Buffer
}

/**
 * Starts a proxy before two ClickHouse servers, for tests and drills. It stands in for replication,
 * which the servers of `npm run servers` lack. A write that one server accepts is sent to the other
 * one too, in order and with its deduplication token. `ON CLUSTER` and replicated engines are
 * removed from statements. As on a cluster, a statement with `ON CLUSTER` is answered once both
 * servers have executed it. `SYSTEM SYNC REPLICA` waits for the other server's writes.
 *
 * `ports`: of the replicas, on 127.0.0.1; 0: any. `POST /.fault` sets the fault that the body has
 * as JSON; an empty body clears it. `POST /.lag` with `true` or `false` sets the lag. `/.ready`
 * answers at any time.
 */
export async function startFaultProxy(
  origins: readonly [string, string],
  ports: readonly [number, number] = [0, 0],
): Promise<FaultProxy> {
  const closing = new AbortController()
  setMaxListeners(0, closing.signal)
  const first = new Replica(origins[0], closing.signal)
  const second = new Replica(origins[1], closing.signal)
  first.other = second
  second.other = first
  await Promise.all([first.listen(ports[0]), second.listen(ports[1])])
  return {
    replicas: [first, second],
    async close() {
      closing.abort()
      await Promise.all([first.close(), second.close()])
    },
  }
}

class Replica implements FaultyReplica {
  other: Replica | null = null
  readonly #pool: Pool
  readonly #closing: AbortSignal
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => request.socket.destroy())
  })
  #fault: z.output<typeof Fault> | null = null
  /** Connections of requests that are never answered. */
  readonly #hanging = new Set<Socket>()
  /**
   * By table: resolves when all writes of the other replica to it are here. As on a cluster, each
   * table is replicated by itself.
   */
  readonly #replicated = new Map<string, Promise<void>>()
  /** Resolves when the replica does not lag. */
  #lag: Promise<void> = Promise.resolve()
  #endLag = () => {}

  constructor(origin: string, closing: AbortSignal) {
    this.#pool = new Pool(origin, { connections: 32 })
    this.#closing = closing
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port // listening on TCP
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async close(): Promise<void> {
    this.#endLag()
    this.#server.close()
    this.#server.closeAllConnections()
    await this.#pool.destroy()
  }

  fail(fault: Fault | null): void {
    this.#fault = fault && Fault.parse(fault)
    for (const socket of this.#hanging) socket.destroy()
    this.#hanging.clear()
  }

  lag(isLagging: boolean): void {
    this.#endLag()
    if (!isLagging) return
    this.#lag = new Promise((resolve) => {
      this.#endLag = resolve
    })
  }

  async caughtUp(): Promise<void> {
    await Promise.all(this.#replicated.values())
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (url.pathname.startsWith('/.')) {
      const value = body.length === 0 ? null : JSON.parse(body.toString())
      if (url.pathname === '/.fault') this.fail(value)
      if (url.pathname === '/.lag') this.lag(value === true)
      response.end()
      return
    }
    const statement = url.searchParams.get('query') ?? body.toString()
    const isWrite = WRITE.test(statement)
    const fault = this.#takeFault(isWrite)
    if (fault?.how === 'hang') return void this.#hanging.add(request.socket)
    if (fault?.how === 'cut') return void request.socket.destroy()
    if (fault?.how === 'refuse') return refuse(response, fault.code)
    const headers = { authorization: request.headers.authorization ?? '' }
    const write = { path: `${url.pathname}${url.search}`, headers, body: onOneServer(body) }
    const answer = await this.#send(write).catch((error: unknown) => {
      if (DEDUPLICATED.test(statement)) this.#settle(write, statement)
      throw error
    })
    if (/^SYSTEM SYNC REPLICA/.test(statement)) {
      const isInTime = await Promise.race([this.caughtUp().then(() => true), this.#late()])
      return isInTime ? void response.end() : refuse(response, 159)
    }
    if (this.#isReadOnly && /FROM system\.replicas/.test(statement))
      return void response.end('{"n":"1"}\n')
    if (isWrite && answer.statusCode === 200) {
      this.other?.replicate(write, statement)
      if (ON_CLUSTER.test(statement)) await this.other?.caughtUp()
    }
    if (fault?.how === 'apply_and_cut') return void request.socket.destroy()
    if (fault?.how === 'apply_and_refuse') return refuse(response, fault.code)
    response.writeHead(answer.statusCode, answer.headers).end(answer.content)
  }

  get #isReadOnly(): boolean {
    return this.#fault?.code === 242 && this.#fault.times > 0
  }

  async #late(): Promise<boolean> {
    await pause(SYNC_WITHIN_MS, this.#closing)
    return false
  }

  #takeFault(isWrite: boolean) {
    const fault = this.#fault
    if (fault === null || fault.on === (isWrite ? 'reads' : 'writes') || fault.times === 0)
      return null
    fault.times -= 1
    return fault
  }

  async #send({ path, headers, body }: Write) {
    const answer = await this.#pool.request({ method: 'POST', path, headers, body })
    return {
      statusCode: answer.statusCode,
      headers: ofClickhouse(answer.headers),
      content: Buffer.from(await answer.body.arrayBuffer()),
    }
  }

  /**
   * The server ended under a write. If it has executed it, the other one must have it too, also if
   * the client never repeats it. Both execute it once, by its deduplication token.
   */
  #settle(write: Write, statement: string): void {
    this.replicate(write, statement)
    this.other?.replicate(write, statement)
  }

  /**
   * Executes a write of the other replica; waits while the server is dead or its disk full. An
   * insert comes after the earlier writes to its table, another statement after all of them and
   * before all later ones.
   */
  replicate(write: Write, statement: string): void {
    const table = /^\s*INSERT INTO (\w+)/i.exec(statement)?.[1] ?? ANY
    const earlier =
      table === ANY
        ? this.caughtUp()
        : Promise.all([this.#replicated.get(table), this.#replicated.get(ANY)])
    this.#replicated.set(
      table,
      earlier.then(async () => {
        await this.#lag
        for (; !this.#closing.aborted; await pause(100, this.#closing)) {
          const answer = await this.#send(write).catch(() => null)
          if (answer !== null && !isDiskFull(answer.content)) return
        }
      }),
    )
  }
}

/** Whether ClickHouse refuses a write because its disk is full. */
const isDiskFull = (content: Buffer) => content.subarray(0, 9).toString() === 'Code: 243'

const SYNC_WITHIN_MS = 4000

/** Stands for every table. */
const ANY = '*'

const WRITE = /^\s*(?:INSERT|CREATE|ALTER|DROP|TRUNCATE|RENAME)\b/i

const ON_CLUSTER = / ON CLUSTER '/

const DEDUPLICATED = /^\s*INSERT\b.*\binsert_deduplication_token = /s

/** ClickHouse's own headers of an answer, such as its summary and the code of an exception. */
function ofClickhouse(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith('x-clickhouse-')),
  )
}

/** Answers as ClickHouse does. Source: `HTTPHandler.cpp` of ClickHouse. */
function refuse(response: ServerResponse, code: number): void {
  response
    .writeHead(500, { 'x-clickhouse-exception-code': code })
    .end(`Code: ${code}. DB::Exception: fault of the proxy. (FAULT_OF_PROXY)\n`)
}

/** A statement without what only a cluster can execute; other bodies as they are. */
function onOneServer(body: Buffer): Buffer {
  if (
    !/^\s*(?:CREATE|ALTER|SYSTEM|SELECT name FROM system\.tables)/.test(
      body.subarray(0, 64).toString(),
    )
  )
    return body
  return Buffer.from(
    body
      .toString()
      .replace(/ ON CLUSTER '[^']*'/, '')
      .replace(/Replicated((?:Replacing)?MergeTree)\('[^']*', '\{replica\}'(?:, )?/, '$1(')
      .replace(/, replicated_deduplication_window_seconds = [0-9]+/, '')
      .replace(/\breplicated_deduplication_window =/, 'non_replicated_deduplication_window =')
      .replace("engine LIKE 'Replicated%'", "engine LIKE '%MergeTree'")
      .replace(/^SYSTEM SYNC REPLICA .*/, 'SELECT 1'),
  )
}
