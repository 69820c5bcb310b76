import { ServiceError } from '../domain/service-error.ts'
import { createEngineStore } from './engine-store.ts'
import { createHttpEngine } from './http-engine.ts'
import type { Store } from './store.ts'
import { clickhouseCode } from './store-error.ts'

/** The database that is used when the URL names none. */
const DEFAULT_DATABASE = 'tracked_wallets'

/**
 * Connects to a ClickHouse server, `http(s)://user:password@host:8123/database`, and makes the database if it is missing and the user may.
 * Rejects with `unreachable` when nothing answers there, `bad_config` when user, password or database are refused. The password is in no error.
 */
export async function connectClickHouse(url: URL): Promise<Store> {
  const database = databaseOf(url)
  const server = {
    origin: url.origin,
    username: decodeURIComponent(url.username) || 'default',
    password: decodeURIComponent(url.password),
  }
  const first = createHttpEngine({ ...server, database: 'default', timeoutMs: 5000 })
  try {
    await first.run(`CREATE DATABASE IF NOT EXISTS ${database}`)
  } catch (error) {
    const code = clickhouseCode(error)
    if (code === null)
      throw new ServiceError(
        'unreachable',
        `CLICKHOUSE_URL: no ClickHouse answers at ${url.host}`,
        {
          retriable: true,
          cause: error,
        },
      )
    if (code === 516 || code === 192 || code === 193)
      throw new ServiceError(
        'bad_config',
        `CLICKHOUSE_URL: ClickHouse at ${url.host} refuses this user and password`,
        { cause: error },
      )
    // A user who may not make databases finds it there, or hears of it below.
  } finally {
    await first.close()
  }
  const engine = createHttpEngine({
    ...server,
    database,
    timeoutMs: 40_000,
    settings: {
      output_format_json_quote_64bit_integers: 1,
      // A double that is written is the double that is read; the faster way is sometimes off by a bit.
      precise_float_parsing: 1,
      // A column that a table does not have is a bug, not a thing to pass by.
      input_format_skip_unknown_fields: 0,
      wait_end_of_query: 1,
      max_execution_time: 30,
    },
  })
  const store = createEngineStore(engine)
  try {
    await store.ping()
  } catch (error) {
    await store.close()
    if (error instanceof ServiceError && error.code === 'internal')
      throw new ServiceError(
        'bad_config',
        `CLICKHOUSE_URL: ClickHouse at ${url.host} does not let this user use database ${database}`,
        { cause: error },
      )
    throw error
  }
  return store
}

/**
 * Connects to a ClickHouse server as a user who may only read (`readonly = 1`, which forbids to
 * pass settings: his profile has them). `database` is used where the URL names none. Rejects like
 * `connectClickHouse`.
 */
export async function connectReader(url: URL, database: string): Promise<Store> {
  const store = createEngineStore(
    createHttpEngine({
      origin: url.origin,
      username: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)) || database,
      timeoutMs: 40_000,
    }),
  )
  try {
    await store.ping()
    return store
  } catch (error) {
    await store.close()
    const isRefused = error instanceof ServiceError && error.code === 'internal'
    throw new ServiceError(
      isRefused ? 'bad_config' : 'unreachable',
      isRefused
        ? `CLICKHOUSE_READER_URL: ClickHouse at ${url.host} refuses this user, password or database`
        : `CLICKHOUSE_READER_URL: no ClickHouse answers at ${url.host}`,
      { retriable: !isRefused, cause: error },
    )
  }
}

function databaseOf(url: URL): string {
  const name = decodeURIComponent(url.pathname.slice(1)) || DEFAULT_DATABASE
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,100}$/.test(name))
    throw new ServiceError(
      'bad_config',
      'CLICKHOUSE_URL: expected a database of letters, digits and underscores, for example http://user:password@clickhouse:8123/tracked_wallets',
    )
  return name
}
