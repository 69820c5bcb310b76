import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { ServiceError } from '../domain/service-error.ts'
import { createRowEncoder, type RowEncoder } from './row-binary.ts'
import type { QueryParams, Row, Store } from './store.ts'
import { storeError } from './store-error.ts'

/** Calls that may wait at once; one more is refused as `unavailable`, so that a stalled server does not fill the memory. */
const MAX_WAITING = 2000

/** From this many rows on, binary rows pay for what they need to know of the table. */
const BINARY_ROWS = 100

/** The store behind a client of the ClickHouse protocol, over HTTP or in process alike. `close` also calls `onClose`. */
export function createClientStore(
  kind: Store['kind'],
  client: ClickHouseClient,
  onClose: () => void = () => {},
): Store {
  let waiting = 0
  let closed = false
  /** Called when nothing is under way any more. */
  let onIdle = () => {}

  async function call<T>(run: () => Promise<T>): Promise<T> {
    if (closed) throw new ServiceError('closed', 'the store is closed')
    if (waiting >= MAX_WAITING)
      throw new ServiceError('unavailable', 'too many queries wait for the store', {
        retriable: true,
      })
    waiting += 1
    try {
      return await run()
    } catch (error) {
      throw storeError(error)
    } finally {
      waiting -= 1
      if (waiting === 0) onIdle()
    }
  }

  const encoders = new Map<string, RowEncoder | null>()

  /** What JSON is not needed for: null when a column's type or a value is another than expected. The embedded engine takes text alone. */
  async function encodeBinary(table: string, rows: readonly Row[]) {
    if (kind === 'chdb' || rows.length < BINARY_ROWS) return null
    const columns = Object.keys(rows[0] ?? {})
    const key = `${table}: ${columns.join()}`
    let encode = encoders.get(key)
    if (encode === undefined) {
      encode = createRowEncoder(columns, await readTypes(table))
      encoders.set(key, encode)
    }
    const bytes = encode?.(rows) ?? null
    return bytes && { columns, bytes }
  }

  async function readTypes(table: string): Promise<Map<string, string>> {
    const result = await client.query({
      query:
        'SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}',
      format: 'JSONEachRow',
      query_params: { table },
    })
    const columns = await result.json<{ name: string; type: string }>()
    return new Map(columns.map(({ name, type }) => [name, type]))
  }

  return {
    kind,
    query: <T>(sql: string, params?: QueryParams) =>
      call(async () => {
        const result = await client.query({
          query: sql,
          format: 'JSONEachRow',
          ...(params && { query_params: { ...params } }),
        })
        return result.json<T>()
      }),
    insert: (table, rows, options = {}) =>
      call(async () => {
        if (rows.length === 0) return
        const binary = await encodeBinary(table, rows)
        const columns = binary?.columns ?? options.columns
        // The token goes with the statement: a setting of the session would stay on for the next insert of the embedded engine.
        const result = await client.exec({
          query: `INSERT INTO ${table} ${columns ? `(${columns.join(', ')}) ` : ''}${dedupSetting(options.dedupToken)} FORMAT ${binary ? 'RowBinary' : 'JSONEachRow'}`,
          values: Readable.from([binary?.bytes ?? encodeRows(rows)]),
        })
        result.stream.resume()
        await finished(result.stream)
      }),
    command: (sql, params) =>
      call(async () => {
        await client.command({ query: sql, ...(params && { query_params: { ...params } }) })
      }),
    ping: () =>
      call(async () => {
        await (await client.query({ query: 'SELECT 1', format: 'JSONEachRow' })).json()
      }),
    async close() {
      if (closed) return
      closed = true
      // The embedded engine runs in this process, and takes it with it when it ends in the middle of something.
      if (kind === 'chdb' && waiting > 0)
        await new Promise<void>((resolve) => {
          onIdle = resolve
        })
      await client.close()
      onClose()
    },
  }
}

function dedupSetting(token: string | undefined): string {
  if (token === undefined) return ''
  if (!/^[\w:.,-]{1,200}$/.test(token)) throw new TypeError('not a deduplication token')
  return `SETTINGS insert_deduplication_token = '${token}'`
}

/** One JSON object a line; bigints become decimal strings, as ClickHouse reads them for every integer type. */
function encodeRows(rows: readonly Row[]): string {
  return rows.map((row) => JSON.stringify(row, bigintText)).join('\n')
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
