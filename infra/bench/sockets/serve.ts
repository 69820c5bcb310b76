import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { writeHeapSnapshot } from 'node:v8'
import { createApiWithFeed } from '../../../api/api-with-feed.ts'
import { newJwtKeys, readJwtKeys } from '../../../api/auth/jwt-keys.ts'
import { type ApiConfig, NO_ACCOUNT_LIMITS } from '../../../api/config.ts'
import { connectRedis } from '../../../api/redis-connection.ts'
import { createMemoryLog } from '../../../pipeline/log/memory.ts'
import { createLogger } from '../../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../../pipeline/runtime/telemetry.ts'
import { createStore } from '../../../pipeline/store/create-store.ts'
import { migrate } from '../../../pipeline/store/migrate.ts'
import { loadConfig } from '../../service/config.ts'
import {
  createCreditSystem,
  openChannel,
  openLimitsRedis,
  openMeter,
} from '../../service/credit-system.ts'
import { storeFundedAccounts } from '../kit/funded-accounts.ts'
import { tradesSlot } from '../kit/trades-slot.ts'
import type { FromApi, ToApi } from './protocol.ts'

/**
 * The API of one process as its own process, over a log in memory and the servers of the
 * environment. It makes `ACCOUNTS` accounts with a key each, and writes the keys to `KEYS_FILE`.
 */
const { ACCOUNTS = '', KEYS_FILE = '', ...env } = process.env
const config = loadConfig(env)
const logger = createLogger('warn')
const registry = createRegistry()
const store = await createStore(config.store)
await migrate(store)
const meter = await openMeter(config.meter, logger)
const redis = await openLimitsRedis(config.meter, logger)
const channel = await openChannel(config.meter, logger)
const { credits, ledger, accounts } = createCreditSystem(store, meter, logger, redis)
const log = createMemoryLog({ logger, registry })
await makeAccounts(Number(ACCOUNTS))
const apiConfig: ApiConfig = {
  host: '127.0.0.1',
  port: 0,
  publicUrl: null,
  secretKeys: [Buffer.alloc(32, 1)],
  tradeIdKey: Buffer.alloc(32, 1),
  jwtKeys: await readJwtKeys(await newJwtKeys(), 'bench'),
  connectionsPerKey: 1,
  rateLimitPerMinute: 0,
  loginRateLimitPerMinute: 0,
  failedAuthLimitPerMinute: 0,
  keyLookUpsAtOnce: 64,
  accountLimits: { ...NO_ACCOUNT_LIMITS, requestsPerMinute: 600, concurrentRequests: 32 },
  feedMessagesPerMinute: 60,
  trustedProxies: 0,
  corsOrigins: [],
}
const deps = { store, log, credits, accounts, redis, channel, perturb: null, logger, registry }
const { port } = await createApiWithFeed({ ...deps, config: apiConfig }).api.listen()
const admin = config.meter.kind === 'redis' ? await connectRedis(config.meter.url, logger) : null
const delay = monitorEventLoopDelay()
delay.enable()
tell({ kind: 'ready', port })

let slot = 1_000_000
process.on('message', async (message: ToApi) => {
  if (message.kind === 'measure') {
    global.gc?.()
    if (message.snapshot !== '') writeHeapSnapshot(message.snapshot)
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed, external } = process.memoryUsage()
    const connections = Number(/^feed_connections (\d+)/m.exec(await registry.metrics())?.[1])
    const cpu = (user + system) / 1e6
    const blockedMs = Math.round(delay.max / 1e6)
    delay.reset()
    const used = { rss, heapUsed, external, cpu, connections, blockedMs, ...(await readRedis()) }
    tell({ kind: 'measured', ...used })
    return
  }
  const times: number[] = []
  const started = performance.now()
  for (let at = 0; at < message.slots; at++) {
    await pause(Math.max(0, started + at * 1000 - performance.now()))
    times.push(Date.now())
    await log.appendSlot(tradesSlot(++slot, [1]))
  }
  tell({ kind: 'published', times })
})

function tell(message: FromApi): void {
  process.send?.(message)
}

async function readRedis() {
  const info = (await admin?.info('everything')) ?? ''
  const field = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? 0)
  const calls = [...info.matchAll(/^cmdstat_[^:]+:calls=(\d+)/gm)].map(([, count]) => Number(count))
  return {
    redisCommands: calls.reduce((sum, count) => sum + count, 0),
    redisCpu: field('used_cpu_user') + field('used_cpu_sys'),
  }
}

/** Stores wallets W1 to W5, and accounts with a key and credits each. */
async function makeAccounts(count: number): Promise<void> {
  const wallets = [1, 2, 3, 4, 5].map((wallet) => ({ wallet, address: '', added_at: 0 }))
  await store.insert('tracked_wallets', wallets)
  const accounts = await storeFundedAccounts({ store, ledger }, count, 100_000)
  writeFileSync(KEYS_FILE, accounts.map(({ key }) => key).join('\n'))
}
