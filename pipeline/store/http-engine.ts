import { randomUUID } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import { parseError } from '@clickhouse/client'
import { toSearchParams } from '@clickhouse/client-common'
import { Pool } from 'undici'
import type { Engine } from './engine.ts'
import type { QueryParams } from './store.ts'

/** A server and who asks it. */
export interface HttpServer {
  readonly origin: string
  readonly username: string
  readonly password: string
  /** Where tables are that a statement names without one. */
  readonly database: string
  readonly settings?: Readonly<Record<string, string | number>>
  /** How long a connection, the begin of an answer and each pause in it may take. */
  readonly timeoutMs: number
}

const CONNECTIONS = 16
const PROBE_TIMEOUT_MS = 5000

/**
 * Asks ClickHouse over HTTP. Parameters and errors are written and read by its own client, requests are made by undici: the client waits for a timer
 * before each of them, 1 to 2 ms (https://github.com/ClickHouse/clickhouse-js/pull/296), and puts each row through a stream.
 */
export function createHttpEngine(server: HttpServer): Engine {
  const { origin, database, settings, timeoutMs } = server
  const pool = openPool(origin, CONNECTIONS, timeoutMs)
  const probes = openPool(origin, 1, Math.min(timeoutMs, PROBE_TIMEOUT_MS))
  const credentials = Buffer.from(`${server.username}:${server.password}`).toString('base64')
  const headers = { authorization: `Basic ${credentials}` }

  /** A statement in the address has its data in the body. */
  async function post(
    address: { query?: string },
    body: string | Uint8Array,
    params: QueryParams,
    through = pool,
  ) {
    const search = toSearchParams({
      ...address,
      database,
      clickhouse_settings: { ...settings },
      query_params: { ...params },
      query_id: randomUUID(),
    })
    const path = `/?${search}`
    const answer = await through.request({ method: 'POST', path, headers, body })
    if (answer.statusCode !== 200) throw parseError(await answer.body.text())
    return answer.body
  }

  return {
    kind: 'clickhouse',
    async read(sql, params = {}) {
      return rowsOf(textOf(await post({}, `${sql}\nFORMAT JSONEachRow`, params)))
    },
    async run(sql, params = {}) {
      await (await post({}, sql, params)).dump()
    },
    async insert(sql, data) {
      await (await post({ query: sql }, data, {})).dump()
    },
    async ping() {
      await (await post({}, 'SELECT 1', {}, probes)).dump()
    },
    async close() {
      await Promise.all([pool.close(), probes.destroy()])
    },
  }
}

function openPool(origin: string, connections: number, timeoutMs: number): Pool {
  return new Pool(origin, {
    connections,
    connectTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // Less than the server keeps them, so that none is asked which it is about to close.
    keepAliveTimeout: 2500,
    keepAliveMaxTimeout: 2500,
  })
}

/** Not by the encoding of the body: undici 7.30 decodes each piece for itself, and a character may be in two. */
async function* textOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  for await (const piece of body) yield decoder.write(piece)
}

/**
 * The rows of an answer, one JSON object a line. JSON escapes line breaks, so a row contains none.
 */
async function rowsOf(pieces: AsyncIterable<string>): Promise<unknown[]> {
  const rows: unknown[] = []
  let rest = ''
  for await (const piece of pieces) {
    const end = piece.lastIndexOf('\n')
    if (end === -1) {
      rest += piece
      continue
    }
    const lines = rest + piece.slice(0, end)
    rest = piece.slice(end + 1)
    for (const row of JSON.parse(`[${lines.replaceAll('\n', ',')}]`) as unknown[]) rows.push(row)
  }
  return rows
}
