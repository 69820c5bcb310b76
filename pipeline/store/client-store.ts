import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { ServiceError } from '../domain/service-error.ts'
import type { QueryParams, Row, Store } from './store.ts'
import { storeError } from './store-error.ts'

/** Calls that may wait at once; one more is refused as `unavailable`, so that a stalled server does not fill the memory. */
const MAX_WAITING = 2000

/** The store behind a client of the ClickHouse protocol, over HTTP or in process alike. `close` also calls `onClose`. */
export function createClientStore(
  kind: Store['kind'],
  client: ClickHouseClient,
  onClose: () => void = () => {},
): Store {
  let waiting = 0
  let closed = false

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
    }
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
        // The token goes with the statement: a setting of the session would stay on for the next insert of the embedded engine.
        const result = await client.exec({
          query: `INSERT INTO ${table} ${options.columns ? `(${options.columns.join(', ')}) ` : ''}${dedupSetting(options.dedupToken)} FORMAT JSONEachRow`,
          values: Readable.from([encodeRows(rows)]),
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
