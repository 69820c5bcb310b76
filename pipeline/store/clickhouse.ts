import { ServiceError } from '../domain/service-error.ts'
import { createEngineStore } from './engine-store.ts'
import { createHttpEngine, type HttpServer } from './http-engine.ts'
import type { Store } from './store.ts'
import { clickhouseCode } from './store-error.ts'

/** The database if the URL names none. */
const DEFAULT_DATABASE = 'tracked_wallets'

/** Codes for a wrong user or password. Source: ErrorCodes.cpp of ClickHouse. */
const BAD_CREDENTIALS = [192, 193, 516]

const SETTINGS = {
  output_format_json_quote_64bit_integers: 1,
  // Doubles are read exactly. The default parser is faster and sometimes off by one bit.
  precise_float_parsing: 1,
  // An unknown column in an insert is a bug.
  input_format_skip_unknown_fields: 0,
  wait_end_of_query: 1,
  max_execution_time: 30,
}

/**
 * Connects to a ClickHouse server, `http(s)://user:password@host:8123/database`, and creates the
 * database if it is missing and the user has the right to.
 *
 * Rejects with `unreachable` when no server answers, and with `bad_config` when it refuses user,
 * password or database. No error contains the password.
 */
export async function connectClickHouse(url: URL): Promise<Store> {
  const database = databaseOf(url)
  const server = serverOf(url, database)
  const first = createHttpEngine({ ...server, database: 'default', timeoutMs: 5000 })
  try {
    await first.run(`CREATE DATABASE IF NOT EXISTS ${database}`)
  } catch (error) {
    const code = clickhouseCode(error)
    if (code === null) throw failure('CLICKHOUSE_URL', url, null, error)
    if (BAD_CREDENTIALS.includes(code))
      throw failure('CLICKHOUSE_URL', url, 'refuses this user and password', error)
    // A user without that right may still use an existing database.
  } finally {
    await first.close()
  }
  const refusal = `does not let this user use database ${database}`
  return open('CLICKHOUSE_URL', url, { ...server, settings: SETTINGS }, refusal)
}

/**
 * Connects to a ClickHouse server as a read-only user (`readonly = 1`). Such a user cannot pass
 * settings, so the user's profile has to contain them. `database` is used if the URL names none.
 * Rejects like `connectClickHouse`.
 */
export function connectReader(url: URL, database: string): Promise<Store> {
  const server = serverOf(url, decodeURIComponent(url.pathname.slice(1)) || database)
  return open('CLICKHOUSE_READER_URL', url, server, 'refuses this user, password or database')
}

function serverOf(url: URL, database: string): HttpServer {
  return {
    origin: url.origin,
    username: decodeURIComponent(url.username) || 'default',
    password: decodeURIComponent(url.password),
    database,
    timeoutMs: 40_000,
  }
}

/** Opens a store once the server has answered. `refusal`: what a refusal means. */
async function open(key: string, url: URL, server: HttpServer, refusal: string): Promise<Store> {
  const store = createEngineStore(createHttpEngine(server))
  try {
    await store.ping()
    return store
  } catch (error) {
    await store.close()
    const isRefused = error instanceof ServiceError && error.code === 'internal'
    throw failure(key, url, isRefused ? refusal : null, error)
  }
}

/** The error for configuration key `key`. `refusal` is null when no server answers. */
function failure(key: string, { host }: URL, refusal: string | null, cause: unknown): ServiceError {
  return refusal === null
    ? new ServiceError('unreachable', `${key}: no ClickHouse answers at ${host}`, { cause })
    : new ServiceError('bad_config', `${key}: ClickHouse at ${host} ${refusal}`, { cause })
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
