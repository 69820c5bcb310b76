import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { writeHeapSnapshot } from 'node:v8'
import { hashApiKey, newApiKey } from '../../../api/accounts/api-key.ts'
import { createApiWithFeed } from '../../../api/api-with-feed.ts'
import { newJwtKeys, readJwtKeys } from '../../../api/auth/jwt-keys.ts'
import { type ApiConfig, NO_ACCOUNT_LIMITS } from '../../../api/config.ts'
import { connectRedis } from '../../../api/redis-connection.ts'
import { address } from '../../../pipeline/domain/address.ts'
import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import type { Swap } from '../../../pipeline/domain/event.ts'
import { WSOL } from '../../../pipeline/domain/quote.ts'
import { createMemoryLog } from '../../../pipeline/log/memory.ts'
import { createLogger } from '../../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../../pipeline/runtime/telemetry.ts'
import { createStore } from '../../../pipeline/store/create-store.ts'
import { dateTime } from '../../../pipeline/store/date-time.ts'
import { migrate } from '../../../pipeline/store/migrate.ts'
import { loadConfig } from '../../service/config.ts'
import {
  createCreditSystem,
  openChannel,
  openLimitsRedis,
  openMeter,
} from '../../service/credit-system.ts'
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
const { port } = await createApiWithFeed({ ...deps, config: apiConfig }).listen()
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
    await publish(++slot)
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

function publish(at: number): Promise<unknown> {
  const mint = address('DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263')
  const swap: Swap = {
    kind: 'swap',
    slot: at,
    txIndex: 0,
    wallet: 1,
    eventIndex: 0,
    blockTime: at,
    signature: '5'.repeat(88),
    side: 'buy',
    baseMint: mint,
    baseAmount: 123_456_789_012n,
    baseDecimals: 6,
    quoteMint: WSOL,
    quoteAmount: 1_500_000_000n,
    program: 'pumpswap',
    programId: mint,
    pool: mint,
    confidence: 'high',
    quoteMismatch: false,
    feeLamports: 0n,
    solPriceUsdE9: null,
  }
  const marker = {
    slot: at,
    parent: at - 1,
    blockTime: at,
    solPrice: null,
    blockId: null,
    finalized: null,
  }
  return log.appendSlot({ marker, records: [swap] })
}

/** Stores wallets W1 to W5, and accounts with a key and credits each. */
async function makeAccounts(count: number): Promise<void> {
  const wallets = [1, 2, 3, 4, 5].map((wallet) => ({ wallet, address: '', added_at: 0 }))
  await store.insert('tracked_wallets', wallets)
  const keys: string[] = []
  const created_at = dateTime(Date.now())
  for (let first = 0; first < count; first += 10_000) {
    const some = Array.from({ length: Math.min(10_000, count - first) }, (_, at) => {
      const bytes = Buffer.alloc(32, 7)
      bytes.writeUInt32BE(first + at)
      const key = newApiKey()
      keys.push(key)
      return { wallet: encodeBase58(bytes), key_sha256: hashApiKey(key), created_at }
    })
    const times = { key_created_at: created_at, key_rotated_at: null, disabled_at: null }
    await store.insert('api_keys', some)
    await store.insert(
      'accounts',
      some.map((account) => ({ ...account, ...times, key_last4: 'xxxx', version: 1 })),
    )
    await ledger.append(
      some.map(({ wallet }) => {
        return { account: wallet, key: 'created', credits: 100_000, cause: 'grant', reason: '' }
      }),
    )
  }
  writeFileSync(KEYS_FILE, keys.join('\n'))
}
