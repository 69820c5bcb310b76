import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import anyTest, { type ExecutionContext } from 'ava'
import { Redis } from 'ioredis'
import { createRedisUsedNonces } from '../../api/auth/used-nonces.ts'
import { Credits } from '../../api/credits/credits.ts'
import { Ledger } from '../../api/credits/ledger.ts'
import { createRedisMeter } from '../../api/credits/redis.ts'
import { connectRedis } from '../../api/redis-connection.ts'
import { readRedisUrl, type SentinelUrl } from '../../api/redis-url.ts'
import { openEmbeddedStore } from '../../api/testing/open-stores.ts'
import type { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { killServers, serversStatus, startServers, stopServers } from './servers.ts'
import type { NodeName } from './state.ts'

/** These tests start servers, so they run only where servers are in use already. */
const enabled = process.env.REDIS_URL !== undefined
const test = enabled ? anyTest.serial : anyTest.serial.skip
const why = enabled ? '' : ' (skipped: REDIS_URL is not set)'
const PORT_BASE = 12_800
const NODES = { 12803: 'redis-1', 12810: 'redis-2' } as const

const dir = mkdtempSync(join(tmpdir(), 'redis-cluster-'))
chmodSync(dir, 0o711) // the servers' users can enter it
const data = join(dir, 'data')
const logger = createLogger('silent')
let url: SentinelUrl
const store = enabled ? openEmbeddedStore() : null

anyTest.before(async () => {
  if (!enabled) return
  const options = { cluster: true, only: 'redis', portBase: PORT_BASE } as const
  url = readRedisUrl((await startServers(data, options)).REDIS_URL ?? '') as SentinelUrl
})
anyTest.after.always(async () => {
  if (enabled) await stopServers(data)
  await (await store)?.remove()
  rmSync(dir, { recursive: true, force: true })
})

/** The node that the first Sentinel calls the master. */
async function masterNode(): Promise<NodeName> {
  const { password } = url
  const sentinel = new Redis({ port: PORT_BASE + 11, password, retryStrategy: null })
  sentinel.on('error', () => {}) // the call rejects
  try {
    const answer = await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster')
    const [, port] = answer as string[]
    return NODES[Number(port) as keyof typeof NODES]
  } finally {
    sentinel.disconnect()
  }
}

async function openCredits(t: ExecutionContext) {
  const meter = await createRedisMeter(url, { logger }, { prefix: `test:{${randomUUID()}}:` })
  t.teardown(() => meter.close())
  const ledger = new Ledger({ store: (await store)?.store as Store, meter }) // open where tests run
  return { ledger, credits: new Credits({ meter, ledger, logger }) }
}

async function signal(node: NodeName, name: NodeJS.Signals): Promise<void> {
  const [status] = await serversStatus(data, { only: node })
  process.kill(status?.pid ?? Number.NaN, name)
}

/** Repeats a step until it does not reject with `unavailable`, for 100 s at most. */
async function untilAvailable<T>(step: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 100_000
  for (;;) {
    try {
      return await step()
    } catch (error) {
      const isAway = (error as ServiceError).code === 'unavailable'
      if (!isAway || performance.now() > deadline) throw error
      await pause(20)
    }
  }
}

test(`a URL that the Sentinels refuse is reported without its passwords${why}`, async (t) => {
  const faults: [SentinelUrl, string, string][] = [
    [{ ...url, masterName: 'other' }, 'bad_config', 'knows no master other'],
    [
      { ...url, sentinelPassword: 'no' },
      'bad_config',
      'refuses sentinel_username or sentinel_password',
    ],
    [
      { ...url, sentinelPassword: '' },
      'bad_config',
      'refuses sentinel_username or sentinel_password',
    ],
    [
      { ...url, sentinels: [{ host: '127.0.0.1', port: 1 }] },
      'unreachable',
      'names no master that answers',
    ],
  ]
  for (const [bad, code, what] of faults) {
    const at = bad.sentinels.map(({ host, port }) => `${host}:${port}`).join(', ')
    const message = `REDIS_URL: Sentinel at ${at} ${what}`
    await t.throwsAsync(connectRedis(bad, logger), { code, message })
  }
  const message = 'REDIS_URL: Redis at mymaster refuses this user and password'
  await t.throwsAsync(connectRedis({ ...url, password: 'no' }, logger), {
    code: 'bad_config',
    message,
  })
})

test(`without a replica no login and no roll-up succeeds, and charges do for one second at most${why}`, async (t) => {
  const { ledger, credits } = await openCredits(t)
  const redis = await connectRedis(url, logger)
  t.teardown(() => redis.disconnect())
  const nonces = createRedisUsedNonces(redis, `test:${randomUUID()}`, { limit: 9 })
  const account = randomUUID()
  const granted = { account, key: 'grant', credits: 1_000_000, cause: 'grant', reason: '' } as const
  await untilAvailable(() => ledger.add(granted))
  await untilAvailable(() => credits.charge(account, 1, randomUUID()))

  const master = await masterNode()
  const replicas = Object.values(NODES).filter((node) => node !== master)
  const stoppedAt = performance.now()
  for (const replica of replicas) await signal(replica, 'SIGSTOP')
  let last = 0
  const charge = () => credits.charge(account, 1, randomUUID())
  await t.throwsAsync(
    async () => {
      for (;;) {
        await charge()
        last = performance.now()
      }
    },
    { code: 'unavailable' },
  )
  t.true(last - stoppedAt < 1000)
  await t.throwsAsync(charge(), { code: 'unavailable' })
  await t.throwsAsync(ledger.rollUp(), { code: 'unavailable' })
  await t.throwsAsync(nonces.use('nonce', Date.now() + 60_000), { code: 'unavailable' })
  for (const replica of replicas) await signal(replica, 'SIGCONT')
  await untilAvailable(charge)
})

test(`after the master is killed charges go on at the other server, and the ledger is exact${why}`, async (t) => {
  const { ledger, credits } = await openCredits(t)
  const account = randomUUID()
  await ledger.add({ account, key: 'grant', credits: 100, cause: 'grant', reason: '' })
  const chargeAndRollUp = async () => {
    await untilAvailable(() => credits.charge(account, 1, randomUUID()))
    // What is rolled up is in the ledger, so no failover can lose it.
    while ((await untilAvailable(() => ledger.rollUp())) > 0);
  }
  await chargeAndRollUp()

  const first = await masterNode()
  await killServers(data, { only: first })
  while ((await masterNode()) === first) await pause(20)
  await startServers(data, { only: first })
  await chargeAndRollUp()

  await credits.stop() // refunds charges whose outcome was unknown
  t.is(await credits.left(account), 98)
  t.deepEqual((await ledger.check()).mismatches, [])
})
