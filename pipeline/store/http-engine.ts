import { randomUUID } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import { parseError } from '@clickhouse/client'
import { toSearchParams } from '@clickhouse/client-common'
import { Pool } from 'undici'
import { ServiceError } from '../domain/service-error.ts'
import type { Engine } from './engine.ts'
import type { QueryParams } from './store.ts'

/** A server and the user who connects to it. */
export interface HttpServer {
  readonly origin: string
  readonly username: string
  readonly password: string
  /** The database of tables that a statement names without one. */
  readonly database: string
  readonly settings?: Readonly<Record<string, string | number>>
  /** Timeout for connecting, for the start of a response, and for each pause in it. */
  readonly timeoutMs: number
  /** Timeout for the start of a response and each pause, if it is another one. 0: none. */
  readonly answerTimeoutMs?: number
}

const CONNECTIONS = 16
const PROBE_TIMEOUT_MS = 5000

/**
 * Lets ClickHouse answer once the result is complete, with up to these bytes of it in memory and
 * the rest in a file: the status is then that of the whole query, and the header has the number of
 * its rows. These parameters are not settings, so a read-only user may pass them.
 * Source: https://clickhouse.com/docs/interfaces/http#response-buffering
 */
const WHOLE = '&wait_end_of_query=1&buffer_size=4194304'

/**
 * Lets ClickHouse end a query whose client is gone, for example killed. It does so for queries that
 * read only, and looks before it reads the SETTINGS of the statement.
 */
const ENDS_ALONE = '&readonly=2&cancel_http_readonly_queries_on_client_close=1'

/**
 * Creates an engine over HTTP. ClickHouse's client encodes parameters and parses errors. Requests
 * are made by undici, because the client waits 1 to 2 ms for a timer before each of them
 * (https://github.com/ClickHouse/clickhouse-js/pull/296) and pipes each row through a stream.
 */
export function createHttpEngine(server: HttpServer): Engine {
  const { origin, database, settings, timeoutMs, answerTimeoutMs } = server
  const pool = openPool(origin, CONNECTIONS, timeoutMs, answerTimeoutMs)
  const probes = openPool(origin, 1, Math.min(timeoutMs, PROBE_TIMEOUT_MS))
  const credentials = Buffer.from(`${server.username}:${server.password}`).toString('base64')
  const headers = { authorization: `Basic ${credentials}` }

  /** With `query` in the URL, the body has the data of that statement. */
  async function post(
    address: { query?: string },
    body: string | Uint8Array,
    params: QueryParams,
    { through = pool, more = '', queryId = randomUUID() as string } = {},
  ) {
    const search = toSearchParams({
      ...address,
      database,
      clickhouse_settings: { ...settings },
      query_params: { ...params },
      query_id: queryId,
    })
    const path = `/?${search}${more}`
    const answer = await through.request({ method: 'POST', path, headers, body })
    if (answer.statusCode !== 200) throw parseError(await answer.body.text())
    return answer
  }

  return {
    kind: 'clickhouse',
    async read(sql, params = {}) {
      const answer = await post({}, `${sql}\nFORMAT JSONEachRow`, params, { more: WHOLE })
      const rows = await rowsOf(textOf(answer.body))
      checkCount(rows, answer.headers['x-clickhouse-summary'])
      return rows
    },
    async download(sql, params = {}, queryId) {
      const { body, headers } = await post({}, sql, params, {
        more: `${WHOLE}${ENDS_ALONE}`,
        queryId,
      })
      const rows = announcedRows(headers['x-clickhouse-summary'])
      if (rows !== null) return { rows, body }
      await body.dump()
      throw new ServiceError('unavailable', 'an answer of the store lacks its number of rows')
    },
    async run(sql, params = {}) {
      await (await post({}, sql, params)).body.dump()
    },
    async insert(sql, data) {
      await (await post({ query: sql }, data, {})).body.dump()
    },
    async ping() {
      await (await post({}, 'SELECT 1', {}, { through: probes })).body.dump()
    },
    async close() {
      await Promise.all([pool.close(), probes.destroy()])
    },
  }
}

function openPool(
  origin: string,
  connections: number,
  timeoutMs: number,
  answerTimeoutMs = timeoutMs,
): Pool {
  return new Pool(origin, {
    connections,
    connectTimeout: timeoutMs,
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
    // Shorter than the server's timeout, so that no request goes to a connection that it closes.
    keepAliveTimeout: 2500,
    keepAliveMaxTimeout: 2500,
  })
}

/**
 * Decodes a body. A character may be split over two pieces, which undici 7.30 decodes one by one.
 */
async function* textOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  for await (const piece of body) yield decoder.write(piece)
}

/**
 * Parses rows, one JSON object a line. JSON escapes line breaks, so a row contains none. Rejects if
 * the answer does not end with a whole row: ClickHouse appends an exception to an answer that it
 * has begun with status 200, also if it cannot read the file that the rest of a result is in.
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
    for (const row of parseRows(lines)) rows.push(row)
  }
  if (rest !== '') throw parseError(rest)
  return rows
}

/**
 * Rejects an answer with other rows than its header announced: with a full disk ClickHouse 26.7 can
 * send an empty body with status 200 for a result of one row.
 */
function checkCount(rows: readonly unknown[], summary: string | string[] | undefined): void {
  const announced = announcedRows(summary)
  if (announced !== null && rows.length !== announced)
    throw new ServiceError('unavailable', 'an answer of the store lacks rows')
}

/** The number of rows in the header of an answer; null without one. */
function announcedRows(summary: string | string[] | undefined): number | null {
  if (typeof summary !== 'string') return null
  const announced: unknown = JSON.parse(summary).result_rows
  return announced === undefined ? null : Number(announced)
}

function parseRows(lines: string): unknown[] {
  try {
    return JSON.parse(`[${lines.replaceAll('\n', ',')}]`)
  } catch {
    throw parseError(lines.slice(-MAX_EXCEPTION))
  }
}

/** Characters at the end of an answer that may be an exception. */
const MAX_EXCEPTION = 100_000
