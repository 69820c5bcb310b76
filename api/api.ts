import type { Perturb } from '../pipeline/domain/perturbation.ts'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import type { EventLog } from '../pipeline/log/log.ts'
import type { ReadyCheck } from '../pipeline/runtime/health-server.ts'
import type { Logger } from '../pipeline/runtime/logger.ts'
import type { Registry } from '../pipeline/runtime/telemetry.ts'
import type { Store } from '../pipeline/store/store.ts'
import { createTimelyStore, inTime } from '../pipeline/store/timely-store.ts'
import type { Accounts } from './accounts/accounts.ts'
import { createKeyCache } from './accounts/key-cache.ts'
import { KeyUses } from './accounts/key-uses.ts'
import { createApp } from './app.ts'
import { createMemorySet, createRedisSet } from './auth/expiring-set.ts'
import { createLogin, MOST_NONCES } from './auth/login.ts'
import { Revocations } from './auth/revocations.ts'
import { createTokens } from './auth/tokens.ts'
import type { Billing } from './billing/billing.ts'
import { type AccountChannel, createMemoryChannel } from './channel/account-channel.ts'
import type { ApiConfig } from './config.ts'
import type { Credits } from './credits/credits.ts'
import { createCursorCodec } from './cursor.ts'
import type { TestWalletOptions } from './dashboard/shell.ts'
import { createHttpServer } from './http-server.ts'
import type { UpgradeHandler } from './middleware/upgrade.ts'
import { createRateLimit } from './rate-limits/rate-limit.ts'
import type { Redis } from './redis-connection.ts'
import type { FeedStatus } from './resources/status.ts'
import { followStorage, type StoragePosition } from './storage-position.ts'
import { createApiMetrics } from './telemetry.ts'

/** The feed's place in the API: takes connections over and tells how far it is (`GET /ws`, decisions F). */
export interface Feed extends UpgradeHandler, FeedStatus {
  /** Rebuilds what it keeps of the last minutes. What is older it reads from the store, as far as `storage` says. */
  start(storage: Pick<StoragePosition, 'walletCount' | 'stored'>, store: Store): Promise<void>
  /** Ends an account's connections here, saying why. */
  endAll(account: string, reason: 'key_rotated' | 'superseded'): void
  /** Tells every client to come back, closes its connection and books what it used; at most `graceMs`. */
  stop(graceMs: number): Promise<void>
}

/** What the API works with; made, and closed afterwards, by whoever makes it. */
export interface ApiDeps {
  readonly config: ApiConfig
  readonly store: Store
  readonly log: EventLog
  readonly feed: Feed
  readonly credits: Credits
  readonly accounts: Accounts
  /** Null where nobody can pay: without payment addresses. */
  readonly billing?: Billing | null
  /** What all processes count rate limits on (decisions D6); without it each counts alone. */
  readonly redis: Redis | null
  /** What the processes tell each other of accounts; default: there is one process. */
  readonly channel?: AccountChannel
  /** How what is served differs from what happened (decisions I2); null: it does not. */
  readonly perturb: Perturb | null
  readonly logger: Logger
  readonly registry: Registry
  /** Conditions of the other roles of this process, for `/readyz`. */
  readonly otherChecks?: Readonly<Record<string, ReadyCheck>>
  readonly now?: () => number
  /** With the simulator: what the dashboard's test wallet works with. */
  readonly testWallet?: TestWalletOptions | null
  /** How long a request waits for a read of the store, in milliseconds; default 10000. */
  readonly readMs?: number
}

export interface Api {
  /** Starts to answer; resolves with the port. Rejects with a ServiceError that names the key at fault. */
  listen(): Promise<{ readonly port: number; readonly url: string }>
  /** What must hold for this role to be ready (decisions J4). */
  readonly checks: Readonly<Record<string, ReadyCheck>>
  /** Takes nothing new, finishes what is under way, tells the feed's clients to come back, books what they used. */
  close(): Promise<void>
}

/** The API of one process: REST and the feed on one port (decisions D, F). */
export function createApi(deps: ApiDeps): Api {
  const { config, log, feed, credits, accounts, redis, logger, registry, readMs = 10_000 } = deps
  const store = createTimelyStore(deps.store, readMs)
  const position = followStorage({ store, logger })
  const server = createHttpServer()
  const checks: Record<string, ReadyCheck> = {
    store: () => store.ping(),
    log: () => log.ping(),
    meter: () => credits.ping(),
    marker: async () => {
      if (position.stored() === null || feed.sent() === null)
        throw new ServiceError('unavailable', 'no slot has come yet', { retriable: true })
    },
  }
  let url = ''
  const now = deps.now ?? Date.now
  const keyUses = new KeyUses({ store, logger, now })
  const { channel = createMemoryChannel() } = deps
  const cache = createKeyCache((hash) => inTime(accounts.accountOfKey(hash), readMs), {
    // Of a key that is revoked elsewhere nothing is heard while the channel is down.
    isTrusted: () => channel.isUp,
  })
  channel.listen({
    onRotated: (_account, keySha256) => cache.revoke(keySha256),
    onSuperseded() {},
    onLoggedOut() {},
    // A key that was rotated in between is still remembered, or being looked up.
    onBack: () => cache.forgetAll(),
  })
  const publicUrl = () => config.publicUrl ?? url
  const revocations = new Revocations({ store, redis, logger, now })
  const tokens = createTokens({
    ...{ keys: config.jwtKeys, issuer: publicUrl, now },
    revocations: {
      has: (tokenId) => revocations.has(tokenId),
      async add(tokenId) {
        try {
          await revocations.add(tokenId)
        } finally {
          await channel.loggedOut(tokenId) // open connections end with it, whatever could not be written
        }
      },
    },
  })
  const metrics = createApiMetrics(registry)
  const nonceSet = { limit: MOST_NONCES, now }
  const login = createLogin({
    url: publicUrl,
    nonces: redis === null ? createMemorySet(nonceSet) : createRedisSet(redis, 'nonces', nonceSet),
    tokens,
    onOutcome: (outcome) => metrics.logins.inc({ outcome }),
    now,
  })
  const app = createApp({
    store,
    position,
    cursors: createCursorCodec(config.secretKey),
    perturb: deps.perturb,
    epoch: log.epoch,
    credits,
    accounts,
    keyUses,
    channel,
    keys: {
      async accountOf(text, before) {
        const account = await cache.accountOf(text, before)
        if (account !== null) keyUses.mark(account)
        return account
      },
    },
    feed,
    checks: () => ({ ...deps.otherChecks, ...checks }),
    upgradeOf: server.upgradeOf,
    metrics,
    logger,
    tokens,
    login,
    jwtKeys: config.jwtKeys,
    billing: deps.billing ?? null,
    rateLimit: createRateLimit('default', config.rateLimitPerMinute, redis),
    loginLimit: createRateLimit('login', config.loginRateLimitPerMinute, redis),
    walletLimit: createRateLimit('login-wallet', config.loginRateLimitPerMinute, redis),
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    now,
    serverUrl: publicUrl,
    testWallet: deps.testWallet ?? null,
  })
  return {
    checks,
    async listen() {
      await position.start()
      await revocations.start()
      await feed.start(position, store)
      credits.start()
      keyUses.start()
      const port = await server.listen(app.callback(), config.host, config.port)
      url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
      logger.info({ port }, 'api listens')
      return { port, url }
    },
    async close() {
      await Promise.all([server.close(GRACE_MS), feed.stop(GRACE_MS)])
      await position.stop()
      await credits.stop()
      await keyUses.stop()
      await revocations.stop()
    },
  }
}

/** How long answers under way and the feed's goodbyes may take; the process has 10 s to end (decisions J5). */
const GRACE_MS = 3000
