import { ServiceError } from '../domain/service-error.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Engine } from './engine.ts'
import { createEngineStore } from './engine-store.ts'
import { createHttpEngine, type HttpServer } from './http-engine.ts'
import { onCluster } from './on-cluster.ts'
import { ReplicaSet } from './replica-set.ts'
import type { Store, StoreConfig } from './store.ts'
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
  // A refold stores rows of any slot. ClickHouse refuses more than 100 partitions otherwise.
  max_partitions_per_insert_block: 0,
  wait_end_of_query: 1,
  max_execution_time: 30,
}

/**
 * Connects to a ClickHouse server, `http(s)://user:password@host:8123/database`, or to replicas of
 * one, and creates the database if it is missing and the user has the right to. `logger` reports
 * changes between replicas.
 *
 * With `isLong`, no timeout of this process ends a statement: one that may take longer than 30 s
 * says so in its own settings (`max_execution_time`).
 *
 * Rejects with `unreachable` when no server answers, and with `bad_config` when it refuses user,
 * password or database. No error contains the password.
 */
export async function connectClickHouse(
  { url, otherUrls = [], cluster = null }: ClickHouseConfig,
  logger?: Logger,
  { isLong = false } = {},
): Promise<Store> {
  const database = databaseOf(url)
  const urls = [url, ...otherUrls]
  await createDatabase(urls, database, cluster)
  const refusal = `does not let this user use database ${database}`
  const settings = cluster === null ? SETTINGS : { ...SETTINGS, ...CLUSTER_SETTINGS }
  const more = { settings, ...(isLong && { answerTimeoutMs: 0 }) }
  const servers = urls.map((one) => ({ ...serverOf(one, database), ...more }))
  const [server] = servers
  if (server !== undefined && servers.length === 1 && cluster === null)
    return open('CLICKHOUSE_URL', urls, createHttpEngine(server), refusal)
  const replicas = new ReplicaSet(
    servers.map((one) => ({
      host: new URL(one.origin).host,
      engine: createHttpEngine(one),
      checks: createHttpEngine({
        ...one,
        ...CHECKS,
        answerTimeoutMs: CHECKS.timeoutMs,
        settings: { ...settings, ...CHECKS.settings },
      }),
    })),
    cluster,
    logger,
  )
  return { ...(await open('CLICKHOUSE_URL', urls, replicas, refusal)), replicas }
}

type ClickHouseConfig = Extract<StoreConfig, { kind: 'clickhouse' }>

/** Seconds in which every server has to execute a statement `ON CLUSTER`. */
const CLUSTER_SETTINGS = { distributed_ddl_task_timeout: 25 }

/** Limits of a check of a replica. `receive_timeout` (seconds) bounds `SYSTEM SYNC REPLICA`. */
const CHECKS = { timeoutMs: 5000, settings: { receive_timeout: 4 } }

/** Creates the database through the first server that answers. */
async function createDatabase(
  urls: readonly URL[],
  database: string,
  cluster: string | null,
): Promise<void> {
  for (const [n, url] of urls.entries()) {
    const server = serverOf(url, database)
    const engine = createHttpEngine({ ...server, database: 'default', timeoutMs: 5000 })
    try {
      return await runCreateDatabase(engine, database, cluster)
    } catch (error) {
      const code = clickhouseCode(error)
      if (code === null && n < urls.length - 1) continue
      if (code === null) throw failure('CLICKHOUSE_URL', urls, null, error)
      if (BAD_CREDENTIALS.includes(code))
        throw failure('CLICKHOUSE_URL', [url], 'refuses this user and password', error)
      // A user without that right may still use an existing database.
      return
    } finally {
      await engine.close()
    }
  }
}

async function runCreateDatabase(engine: Engine, database: string, cluster: string | null) {
  const statement = `CREATE DATABASE IF NOT EXISTS ${database}`
  if (cluster === null) return engine.run(statement)
  // A statement ON CLUSTER waits for servers that are down, so it runs only where it is needed.
  const name = { name: database }
  const found = await engine.read('SELECT 1 FROM system.databases WHERE name = {name:String}', name)
  if (found.length === 0) await engine.run(onCluster(statement, cluster, ''))
}

/**
 * Connects to a ClickHouse server as a read-only user (`readonly = 1`). Such a user cannot pass
 * settings, so the user's profile has to contain them. `database` is used if the URL names none.
 * Rejects like `connectClickHouse`.
 */
export function connectReader(url: URL, database: string): Promise<Store> {
  const server = serverOf(url, decodeURIComponent(url.pathname.slice(1)) || database)
  const refusal = 'refuses this user, password or database'
  return open('CLICKHOUSE_READER_URL', [url], createHttpEngine(server), refusal)
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
async function open(
  key: string,
  urls: readonly URL[],
  engine: Engine,
  refusal: string,
): Promise<Store> {
  const store = createEngineStore(engine)
  try {
    await store.ping()
    return store
  } catch (error) {
    await store.close()
    const isRefused = error instanceof ServiceError && error.code === 'internal'
    throw failure(key, urls, isRefused ? refusal : null, error)
  }
}

/** The error for configuration key `key`. `refusal` is null when no server answers. */
function failure(
  key: string,
  urls: readonly URL[],
  refusal: string | null,
  cause: unknown,
): ServiceError {
  const host = urls.map((url) => url.host).join(', ')
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
