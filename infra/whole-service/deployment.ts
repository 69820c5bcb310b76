import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import bs58 from 'bs58'
import { newJwtKeys } from '../../api/auth/jwt-keys.ts'
import { connectRedis } from '../../api/redis-connection.ts'
import type { RedisUrl } from '../../api/redis-url.ts'
import type { Role } from '../../pipeline/config.ts'
import type { Address } from '../../pipeline/domain/address.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { loadDataConfig } from '../service/config.ts'
import { Customer } from './customer.ts'
import {
  commandOutcome,
  type ServiceProcess,
  startOperator,
  startProcess,
} from './service-process.ts'

/** A deployment of the service's parts in a test. */
export interface Deployment {
  readonly kind: 'embedded' | 'servers'
  /**
   * The running processes by name, which is the role by default; that of an embedded deployment's
   * process is `all`.
   */
  readonly processes: ReadonlyMap<string, ServiceProcess>
  /** Environment variables of all processes. */
  readonly env: Readonly<Record<string, string>>
  /**
   * Starts a process of a role, or the one process. `env` is for this process alone. `root`: folder
   * of its build, by default this one.
   */
  start(
    role: Role | 'all',
    env?: Readonly<Record<string, string>>,
    name?: string,
    root?: string,
  ): ServiceProcess
  /** Starts all processes of the deployment. */
  startAll(): void
  /** Creates an account with credits by the operator's command; returns its key. */
  createAccount(credits: number): Promise<string>
  /** Runs an operator command; returns its exit code and its document. */
  operator(...args: string[]): Promise<{ code: number | string; document: unknown }>
  /** Returns what does not add up in the ledger of credits. */
  ledgerFaults(): Promise<string[]>
  /** Returns a client of the running API with this key. */
  customer(key: string): Promise<Customer>
  /** Stops every process and removes what the test has left. */
  remove(): Promise<void>
}

const { KAFKA_BROKERS, CLICKHOUSE_URL, REDIS_URL } = process.env

/** Why the tests on real servers cannot run; empty when they can. */
export const WHY_NO_SERVERS =
  KAFKA_BROKERS && CLICKHOUSE_URL && REDIS_URL
    ? ''
    : 'KAFKA_BROKERS, CLICKHOUSE_URL and REDIS_URL are not set'

/** Without limits, history or an operator's questions. */
const DEFAULTS = {
  PORT: '0',
  METRICS_PORT: '0',
  RATE_LIMIT_PER_MINUTE: '0',
  ACCOUNT_RATE_LIMIT_PER_MINUTE: '0',
  ACCOUNT_CONCURRENT_REQUESTS: '0',
  LOGIN_RATE_LIMIT_PER_MINUTE: '0',
  DASHBOARD_RATE_LIMIT_PER_MINUTE: '0',
  DASHBOARD_CONCURRENT_REQUESTS: '0',
  LOG_LEVEL: 'info',
  SIMULATOR_HISTORY_HOURS: '0',
  OPERATOR_CONFIRM_CREDITS: '1000000000000', // no account of a test needs a code
}

/**
 * Creates a deployment: its own folder, and with servers its own topics, database and Redis
 * database. The simulator has no history. `env` overrides the defaults.
 */
export async function deploy(
  kind: Deployment['kind'],
  wallets: readonly Address[],
  env: Readonly<Record<string, string>> = {},
): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'whole-service-'))
  const walletsFile = join(folder, 'wallets.txt')
  writeFileSync(walletsFile, `${wallets.join('\n')}\n`)
  const servers = kind === 'servers' ? await emptyServers(process.env) : null
  const environment: Record<string, string> = {
    ...DEFAULTS,
    DATA_DIR: join(folder, 'data'),
    ...(wallets.length === 0 ? {} : { WALLETS_FILE: walletsFile }),
    ...servers?.env,
    ...env,
  }
  const processes = new Map<string, ServiceProcess>()
  /** All processes, including several of one role. */
  const started: ServiceProcess[] = []
  const commands = new Set<ServiceProcess>()

  function start(
    role: Role | 'all',
    own: Readonly<Record<string, string>> = {},
    name: string = role,
    root?: string,
  ): ServiceProcess {
    const roles = role === 'all' ? {} : { ROLES: role }
    const all = { ...environment, ...roles, ...own }
    const process = startProcess('infra/service/main.js', all, [], [], root)
    processes.set(name, process)
    started.push(process)
    return process
  }

  async function operator(...args: string[]) {
    const command = startOperator(environment, args)
    commands.add(command)
    return commandOutcome(command).finally(() => commands.delete(command))
  }

  return {
    kind,
    processes,
    env: environment,
    start,
    operator,
    startAll() {
      // The API starts first, so that its relay sees every slot.
      for (const role of kind === 'embedded' ? ['all' as const] : ROLES) start(role)
    },
    async ledgerFaults() {
      for (const startedAt = Date.now(); ; await delay(500)) {
        const { code, document } = await operator('ledger', 'check')
        if (code === 0) return []
        // A server may be changing its master.
        const isLost = (document as { code?: unknown }).code === 'unavailable'
        if (!isLost || Date.now() > startedAt + LOST_MS)
          return [`ledger check: ${JSON.stringify(document)}`]
      }
    },
    createAccount: (credits) => createAccount(operator, credits),
    async customer(key) {
      const api = processes.get('api') ?? processes.get('all')
      if (api === undefined) throw new Error('no process with the role api was started')
      return new Customer(await api.line('url'), key)
    },
    async remove() {
      await Promise.all([...started, ...commands].map((one) => one.kill()))
      await servers?.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function createAccount(run: Deployment['operator'], credits: number): Promise<string> {
  const wallet = bs58.encode(randomBytes(32))
  const args = ['account', 'create', '--wallet', wallet, '--credits', String(credits)]
  const { code, document } = await run(...args)
  if (code !== 0) throw new Error(JSON.stringify(document))
  return (document as { api_key: string }).api_key // rule J3
}

const ROLES: readonly Role[] = ['api', 'workers', 'ingest']

/** Databases of Redis that belong to tests. */
const TEST_DATABASES = Array.from({ length: 15 }, (_, n) => n + 1)
/** Longer than any test takes. */
const RESERVED_SECONDS = 900
/** How long an operator's command is repeated while a server does not answer. */
const LOST_MS = 60_000

const reservationOf = (number: number) => `test:database:${number}`

/**
 * Reserves a database of Redis and empties it. Two services with one would roll up each other's
 * usage.
 */
async function reserveDatabase(url: RedisUrl): Promise<number> {
  const redis = await connectRedis(url, createLogger('silent'))
  try {
    for (const number of TEST_DATABASES) {
      await redis.select(0)
      const reserved = await redis.set(reservationOf(number), '1', 'EX', RESERVED_SECONDS, 'NX')
      if (reserved === null) continue
      await redis.select(number)
      await redis.flushdb()
      return number
    }
    throw new Error('every database of Redis is reserved by another test')
  } finally {
    redis.disconnect()
  }
}

/** Ends a reservation, unless the server is gone already. */
async function releaseDatabase(url: RedisUrl, number: number): Promise<void> {
  const redis = await connectRedis(url, createLogger('silent')).catch(() => null)
  if (redis === null) return
  await redis
    .select(0)
    .then(() => redis.del(reservationOf(number)))
    .catch(() => {})
  redis.disconnect()
}

/** Names on the real servers that nobody else uses; all are marked as belonging to tests. */
export async function emptyServers(servers: Readonly<Record<string, string | undefined>>) {
  const { KAFKA_BROKERS = '', CLICKHOUSE_CLUSTER = '', CLICKHOUSE_READER_URL = '' } = servers
  const { CLICKHOUSE_URL = '', REDIS_URL = '' } = servers
  const name = `test_${randomBytes(6).toString('hex')}`
  const clickhouse = {
    CLICKHOUSE_URL: CLICKHOUSE_URL.replace(/^(https?:\/\/[^/]+).*/, `$1/${name}`),
    CLICKHOUSE_CLUSTER,
  }
  const config = loadDataConfig({ ...clickhouse, REDIS_URL })
  if (config.meter.kind === 'memory') throw new Error('REDIS_URL is not set')
  const redis = config.meter.url
  const store = await createStore(config.store) // creates the database
  const number = await reserveDatabase(redis)
  const secrets = mkdtempSync(join(tmpdir(), 'secrets-'))
  return {
    store,
    env: {
      KAFKA_BROKERS,
      KAFKA_TOPIC_PREFIX: `${name}-`,
      ...clickhouse,
      CLICKHOUSE_READER_URL,
      // With Sentinels the name of the master comes before the database.
      REDIS_URL: REDIS_URL.replace(/^([a-z+]+:\/\/[^/?]+(?:\/[a-z]+)?)[^?]*/, `$1/${number}`),
      ...(await newSecrets(secrets)),
    },
    async drop() {
      await releaseDatabase(redis, number)
      for (const database of [`analyst_${name}`, name])
        await store.command(`DROP DATABASE IF EXISTS ${database}`)
      await store.close()
      rmSync(secrets, { recursive: true, force: true })
    },
  }
}

/** The secrets that processes share (rule J2). The file of keys is written to `folder`. */
export async function newSecrets(folder: string) {
  const JWT_KEYS_FILE = join(folder, 'jwt-keys.json')
  writeFileSync(JWT_KEYS_FILE, await newJwtKeys(), { mode: 0o600 })
  return { SECRET_KEY: randomBytes(32).toString('hex'), JWT_KEYS_FILE }
}
