import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { ServiceError } from '../domain/service-error.ts'
import { makeFolder } from '../runtime/make-folder.ts'
import { parseJson } from '../runtime/parse-json.ts'
import type { Engine } from './engine.ts'
import { createEngineStore } from './engine-store.ts'
import type { QueryParams, Store } from './store.ts'

/** The part of `chdb/connection` that is used. The package is an optional dependency. */
interface ChdbModule {
  createChdbConnection(options: { path: string }): ChdbConnection
}

type ChdbConnection = NonNullable<NonNullable<Parameters<typeof createClient>[0]>['connection']>

const DATABASE = 'tracked_wallets'

/**
 * Opens the embedded ClickHouse (chDB) on a folder, which is created if missing and which this
 * process then owns exclusively. It runs one query at a time, outside the event loop. Rejects with
 * `bad_config` when the package is not installed or another process owns the folder.
 */
export async function openChdb(folder: string): Promise<Store> {
  const path = resolve(folder)
  const { createChdbConnection } = loadChdb()
  let client: ReturnType<typeof createClient>
  try {
    makeFolder(path)
    chmodSync(path, 0o700) // earlier versions left it readable for others
    client = createClient({
      connection: createChdbConnection({ path }),
      log: { level: ClickHouseLogLevel.OFF },
    })
  } catch (error) {
    throw openError(error, path)
  }
  const store = createEngineStore(engineOf(client))
  try {
    for (const statement of SESSION) await store.command(statement)
  } catch (error) {
    await store.close()
    throw openError(error, path)
  }
  return store
}

/** Whether `openChdb` has made a database in a folder. */
export function hasChdb(folder: string): boolean {
  return existsSync(join(folder, 'metadata', `${DATABASE}.sql`))
}

function engineOf(client: ReturnType<typeof createClient>): Engine {
  const bound = (params: QueryParams | undefined) => params && { query_params: { ...params } }
  return {
    kind: 'chdb',
    async read(sql, params) {
      const result = await client.query({ query: sql, format: 'JSONEachRow', ...bound(params) })
      return rowsOf(await result.text())
    },
    async run(sql, params) {
      await client.command({ query: sql, ...bound(params) })
    },
    async insert(sql, data) {
      const { stream } = await client.exec({ query: sql, values: Readable.from([data]) })
      stream.resume()
    },
    async ping() {
      await client.command({ query: 'SELECT 1' })
    },
    close: () => client.close(),
  }
}

/**
 * Parses the rows of a response, one JSON array. When a query fails after its first rows (a
 * timeout, an error in a function), chDB 26.7 keeps the text that it has written and puts it before
 * the next answer, which may be another caller's. With such text the response is not valid JSON.
 * JSON escapes line breaks, so the last `[` at the end of a line begins the array of this answer.
 */
function rowsOf(text: string): unknown[] {
  const rows = parseJson(text) ?? parseJson(text.slice(text.lastIndexOf('[\n')))
  if (Array.isArray(rows)) return rows
  throw new ServiceError('unavailable', 'an answer of the store cannot be read')
}

/**
 * Statements run once: in chDB, `SET` and `USE` hold for all later queries. The default database is
 * not Atomic, so another one is created.
 */
const SESSION = [
  `CREATE DATABASE IF NOT EXISTS ${DATABASE} ENGINE = Atomic`,
  `USE ${DATABASE}`,
  'SET output_format_json_quote_64bit_integers = 1',
  'SET output_format_json_array_of_rows = 1',
  // Doubles are read exactly. The default parser is faster and sometimes off by one bit.
  'SET precise_float_parsing = 1',
  // An unknown column in an insert is a bug.
  'SET input_format_skip_unknown_fields = 0',
  // A refold stores rows of any slot. ClickHouse refuses more than 100 partitions otherwise.
  'SET max_partitions_per_insert_block = 0',
  'SET max_execution_time = 30',
]

function loadChdb(): ChdbModule {
  try {
    // The cast is safe: the package documents this interface.
    return createRequire(import.meta.url)('chdb/connection') as ChdbModule
  } catch (cause) {
    throw new ServiceError(
      'bad_config',
      'the embedded ClickHouse (package chdb) cannot be loaded on this machine: set CLICKHOUSE_URL to a server, or install it with npm ci without --omit=optional (Linux and macOS, x64 and arm64)',
      { cause },
    )
  }
}

function openError(cause: unknown, path: string): ServiceError {
  const why = isOwnedByAnother(path)
    ? 'another process owns the data; stop it, or set another folder'
    : `the embedded ClickHouse cannot open ${path}; it needs a folder of its own that it may write`
  return new ServiceError('bad_config', `DATA_DIR: ${why}`, { cause })
}

/** chDB does not say why it cannot open a folder. Its lock file has the id of the owner. */
function isOwnedByAnother(path: string): boolean {
  try {
    const pid = Number(/^PID: ([0-9]+)$/m.exec(readFileSync(join(path, 'status'), 'utf8'))?.[1])
    return pid !== process.pid && process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
