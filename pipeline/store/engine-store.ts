import { ServiceError } from '../domain/service-error.ts'
import type { Engine } from './engine.ts'
import { createRowEncoder, type RowEncoder } from './row-binary.ts'
import type { QueryParams, Row, Store } from './store.ts'
import { storeError } from './store-error.ts'

/**
 * Maximum number of calls under way at once. Further calls are rejected as `unavailable`, so that a
 * stalled server does not fill the memory.
 */
const MAX_WAITING = 2000

/** A probe is skipped when the engine has answered another call this recently. */
const ANSWERED_MS = 1000

/** Fewer rows are sent as JSON, because binary rows need the column types of the table. */
const BINARY_ROWS = 100

/** Creates a store over an engine: limits, errors, formats of inserts and probes. */
export function createEngineStore(engine: Engine): Store {
  const { kind } = engine
  let waiting = 0
  let closed = false
  /** Called when the last call under way ends. */
  let onIdle = () => {}

  /**
   * `performance.now()` of the last response; -Infinity after a call found the engine unreachable.
   */
  let answeredAt = Number.NEGATIVE_INFINITY
  let probe: Promise<void> | null = null

  async function call<T>(run: () => Promise<T>): Promise<T> {
    if (waiting >= MAX_WAITING)
      throw new ServiceError('unavailable', 'too many queries wait for the store')
    return ask(run)
  }

  async function ask<T>(run: () => Promise<T>): Promise<T> {
    if (closed) throw new ServiceError('closed', 'the store is closed')
    waiting += 1
    try {
      const result = await run()
      answeredAt = performance.now()
      return result
    } catch (error) {
      const failure = storeError(error)
      if (failure.code === 'unavailable') answeredAt = Number.NEGATIVE_INFINITY
      throw failure
    } finally {
      waiting -= 1
      if (waiting === 0) onIdle()
    }
  }

  const encoders = new Map<string, RowEncoder | null>()

  /**
   * Returns the rows as `RowBinary`. Returns null for chDB, which accepts only text, for few rows,
   * and when a column's type is not supported or a value does not fit: these are sent as JSON.
   */
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
    const columns = (await engine.read(
      'SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}',
      { table },
    )) as { name: string; type: string }[] // as selected
    return new Map(columns.map(({ name, type }) => [name, type]))
  }

  return {
    kind,
    query: <T>(sql: string, params?: QueryParams, columns: readonly string[] = []) =>
      call(async () => {
        const rows = await engine.read(sql, params)
        checkColumns(rows, columns)
        return rows as T[] // the caller's statement says what it selects
      }),
    insert: (table, rows, options = {}) =>
      call(async () => {
        if (rows.length === 0) return
        const binary = await encodeBinary(table, rows)
        const columns = binary?.columns ?? options.columns
        // The token is a setting of the statement. A setting of the session would also apply to the
        // next insert of the embedded engine.
        await engine.insert(
          `INSERT INTO ${table} ${columns ? `(${columns.join(', ')}) ` : ''}${dedupSetting(options.dedupToken)} FORMAT ${binary ? 'RowBinary' : 'JSONEachRow'}`,
          binary?.bytes ?? encodeRows(rows),
        )
      }),
    ...(engine.download && {
      download: (sql: string, params?: QueryParams, queryId?: string) =>
        // `this` of the engine, which may be a class
        call(
          () => engine.download?.(sql, params, queryId) ?? Promise.reject(new Error('no download')),
        ),
    }),
    command: (sql, params) => call(() => engine.run(sql, params)),
    async ping() {
      if (!closed && performance.now() - answeredAt < ANSWERED_MS) return
      probe ??= ask(() => engine.ping()).finally(() => {
        probe = null
      })
      await probe
    },
    async close() {
      if (closed) return
      closed = true
      // The embedded engine crashes the process when it is closed during a query.
      if (kind === 'chdb' && waiting > 0)
        await new Promise<void>((resolve) => {
          onIdle = resolve
        })
      await engine.close()
    },
  }
}

/**
 * Rejects a response whose first row lacks one of `columns` with a retriable `unavailable`. The
 * engine writes all rows of a response alike, so the first one shows what the others have.
 */
function checkColumns(rows: readonly unknown[], columns: readonly string[]): void {
  const [first] = rows
  if (first === undefined) return
  // JSON objects
  const missing = columns.filter((column) => !Object.hasOwn(first as object, column))
  if (missing.length > 0)
    throw new ServiceError(
      'unavailable',
      `an answer of the store lacks the columns ${missing.join(', ')}`,
    )
}

function dedupSetting(token: string | undefined): string {
  if (token === undefined) return ''
  if (!/^[\w:.,-]{1,200}$/.test(token)) throw new TypeError('not a deduplication token')
  return `SETTINGS insert_deduplication_token = '${token}'`
}

/**
 * One JSON object a line. A bigint becomes a decimal string, which every integer column accepts.
 */
function encodeRows(rows: readonly Row[]): string {
  return rows.map((row) => JSON.stringify(row, bigintText)).join('\n')
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
