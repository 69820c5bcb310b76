import { randomBytes } from 'node:crypto'
import type { Perturb } from '../pipeline/domain/perturbation.ts'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import type { EventLog } from '../pipeline/log/log.ts'
import type { Logger } from '../pipeline/runtime/logger.ts'
import { createReadiness, type Readiness } from '../pipeline/runtime/readiness.ts'
import type { Registry } from '../pipeline/runtime/telemetry.ts'
import type { Store } from '../pipeline/store/store.ts'
import { createTimelyStore, inTime } from '../pipeline/store/timely-store.ts'
import { AccountEvents } from './accounts/account-events.ts'
import type { Accounts } from './accounts/accounts.ts'
import { hashApiKey } from './accounts/api-key.ts'
import { createKeyCache } from './accounts/key-cache.ts'
import { KeyUses } from './accounts/key-uses.ts'
import { ReplacedKeys } from './accounts/replaced-keys.ts'
import { createApp } from './app.ts'
import type { JwtKeys } from './auth/jwt-keys.ts'
import { createLogin, MOST_USED_NONCES } from './auth/login.ts'
import { createNonces } from './auth/nonces.ts'
import { Revocations } from './auth/revocations.ts'
import { createTokens } from './auth/tokens.ts'
import { createMemoryUsedNonces, createRedisUsedNonces } from './auth/used-nonces.ts'
import type { Billing } from './billing/billing.ts'
import { type AccountChannel, createMemoryChannel } from './channel/account-channel.ts'
import type { ApiConfig } from './config.ts'
import type { Credits } from './credits/credits.ts'
import { createCursorCodec } from './cursor.ts'
import type { TestWalletOptions } from './dashboard/shell.ts'
import { FairReads } from './fair-reads.ts'
import { createHttpServer } from './http-server.ts'
import type { UpgradeHandler } from './middleware/upgrade.ts'
import { createRateLimit } from './rate-limits/rate-limit.ts'
import type { Redis } from './redis-connection.ts'
import type { FeedStatus } from './resources/status.ts'
import { followStorage, type StoragePosition } from './storage-position.ts'
import { createApiMetrics } from './telemetry.ts'

/** The feed's place in the API: takes connections over and tells how far it is (`GET /ws`, rules of section F). */
export interface Feed extends UpgradeHandler, FeedStatus {
  /**
   * Rebuilds what it keeps of the last minutes. What is older it reads from the store, as far as
   * `storage` says; pages for an account by `storeOf`.
   */
  start(
    storage: Pick<StoragePosition, 'walletCount' | 'stored'>,
    store: Store,
    storeOf?: (account: string) => Store,
  ): Promise<void>
  /** Ends an account's connections here, saying why. */
  endAll(account: string, reason: 'key_rotated' | 'superseded'): void
  /** Ends the connections whose dashboard token is not valid any more. */
  checkTokens(): void
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
  /** What all processes count rate limits on (rule D6); without it each counts alone. */
  readonly redis: Redis | null
  /** What the processes tell each other of accounts; default: there is one process. */
  readonly channel?: AccountChannel
  /** How what is served differs from what happened (rule I2); null: it does not. */
  readonly perturb: Perturb | null
  readonly logger: Logger
  readonly registry: Registry
  /** Conditions of this process, which the API adds its own to; default: its own alone. */
  readonly readiness?: Readiness
  readonly now?: () => number
  /** With the simulator: what the dashboard's test wallet works with. */
  readonly testWallet?: TestWalletOptions | null
  /** How long a request waits for the store, in milliseconds; default 10000. */
  readonly readMs?: number
}

export interface Api {
  /** Starts to answer; resolves with the port. Rejects with a ServiceError that names the key at fault. */
  listen(): Promise<{ readonly port: number; readonly url: string }>
  /** Signs and verifies dashboard tokens with other keys from now on. */
  replaceJwtKeys(keys: JwtKeys): void
  /** Takes nothing new, finishes what is under way, tells the feed's clients to come back, books what they used. */
  close(): Promise<void>
}

/** The API of one process: REST and the feed on one port (rules of sections D, F). */
export function createApi(deps: ApiDeps): Api {
  const { config, log, feed, credits, accounts, redis, logger, registry, readMs = 10_000 } = deps
  const store = createTimelyStore(deps.store, readMs)
  const position = followStorage({ store, logger })
  const metrics = createApiMetrics(registry)
  const { maxConnections = 0, maxConnectionsPerAddress = 0, trustedProxies } = config
  const server = createHttpServer({
    maxConnections,
    // Behind proxies each connection is a proxy's.
    maxConnectionsPerAddress: trustedProxies === 0 ? maxConnectionsPerAddress : 0,
    onRefused: (reason) => metrics.connectionsRefused.inc({ reason }),
  })
  const { readiness = createReadiness() } = deps
  readiness.add({
    store: () => store.ping(),
    log: () => log.ping(),
    meter: () => credits.ping(),
    marker: async () => {
      if (position.stored() === null || feed.sent() === null)
        throw new ServiceError('unavailable', 'no slot has come yet', { retriable: true })
    },
  })
  let url = ''
  const now = deps.now ?? Date.now
  const keyUses = new KeyUses({ store, logger, now })
  const { channel = createMemoryChannel() } = deps
  const events = new AccountEvents({
    store,
    logger,
    now,
    onDropped: () => metrics.eventsDropped.inc(),
  })
  const replaced = new ReplacedKeys()
  const lookUp = (hash: string) =>
    accounts.accountOfKey(hash, (account) => replaced.add(hash, account))
  const cache = createKeyCache((hash) => inTime(lookUp(hash), readMs), {
    lookUpsAtOnce: config.keyLookUpsAtOnce,
    now,
    // Of a key that is revoked elsewhere nothing is heard while the channel is down.
    isTrusted: () => channel.isUp,
  })
  channel.listen({
    onRotated(account, keySha256) {
      cache.revoke(keySha256)
      replaced.add(keySha256, account)
    },
    onSuperseded() {},
    onLoggedOut() {},
    onLoggedOutEverywhere() {},
    // A key that was rotated in between is still remembered, or being looked up.
    onBack: () => cache.forgetAll(),
  })
  const publicUrl = () => config.publicUrl ?? url
  let { jwtKeys } = config
  const revocations = new Revocations({ store, redis, logger, now, waitMs: readMs })
  const tokens = createTokens({
    keys: () => jwtKeys,
    issuer: publicUrl,
    now,
    revocations: {
      has: (session) => revocations.has(session),
      generationOf: (wallet) => revocations.generationOf(wallet),
      async add(tokenId) {
        try {
          await revocations.add(tokenId)
        } finally {
          await channel.loggedOut(tokenId) // open connections end with it, whatever could not be written
        }
      },
      async addAll(wallet) {
        const generation = await revocations.nextGeneration(wallet)
        try {
          await revocations.begin(wallet, generation)
        } finally {
          await channel.loggedOutEverywhere(wallet, generation)
        }
      },
    },
  })
  const limits = config.accountLimits
  const reads = new FairReads(deps.store, { perAccount: limits.storeReads, timeoutMs: readMs })
  const usedNonces = { limit: MOST_USED_NONCES, now }
  const login = createLogin({
    url: publicUrl,
    // Used nonces in memory end with this process, and so do the nonces that it gave.
    nonces: createNonces(redis === null ? randomBytes(32) : config.secretKey),
    used:
      redis === null
        ? createMemoryUsedNonces(usedNonces)
        : createRedisUsedNonces(redis, 'used-nonces', usedNonces),
    tokens,
    onOutcome(outcome, { wallet, network }) {
      metrics.logins.inc({ outcome })
      if (outcome === 'ok') events.add(wallet, 'signed_in', network)
      else if (outcome === 'bad_signature') events.count(wallet, 'sign_in_failed', network)
    },
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
    events,
    channel,
    keys: {
      async accountOf(text, options) {
        const account = await cache.accountOf(text, options)
        if (account !== null) keyUses.mark(account)
        return account
      },
    },
    onKeyRefused(text, network) {
      const account = replaced.accountOf(hashApiKey(text))
      if (account !== null) events.count(account, 'key_refused', network)
    },
    feed,
    readiness,
    upgradeOf: server.upgradeOf,
    metrics,
    logger,
    tokens,
    login,
    jwtKeys: () => jwtKeys,
    billing: deps.billing ?? null,
    rateLimit: createRateLimit('default', config.rateLimitPerMinute, redis),
    loginLimit: createRateLimit('login', config.loginRateLimitPerMinute, redis),
    siteLimit: createRateLimit(
      'login-network',
      LOGINS_OF_A_SITE * config.loginRateLimitPerMinute,
      redis,
    ),
    walletLimit: createRateLimit('login-wallet', config.loginRateLimitPerMinute, redis),
    accountLimit: {
      concurrencyName: 'account-concurrent',
      rate: createRateLimit('account', limits.requestsPerMinute, redis),
      atOnce: limits.concurrentRequests,
    },
    dashboardLimit: {
      concurrencyName: 'dashboard-concurrent',
      rate: createRateLimit('dashboard', limits.dashboardRequestsPerMinute, redis),
      atOnce: limits.dashboardConcurrentRequests,
    },
    reads,
    trustedProxies,
    failedAuthLimit: createRateLimit('auth', config.failedAuthLimitPerMinute, redis),
    corsOrigins: config.corsOrigins,
    securityContact: config.securityContact ?? null,
    now,
    serverUrl: publicUrl,
    testWallet: deps.testWallet ?? null,
  })
  return {
    async listen() {
      await position.start()
      await revocations.start()
      await feed.start(position, store, (account) => reads.storeOf(account))
      credits.start()
      keyUses.start()
      events.start()
      const port = await server.listen(app.callback(), config.host, config.port)
      url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
      logger.info({ port }, 'api listens')
      return { port, url }
    },
    replaceJwtKeys(keys) {
      jwtKeys = keys
      feed.checkTokens()
    },
    async close() {
      await Promise.all([server.close(GRACE_MS), feed.stop(GRACE_MS)])
      await position.stop()
      await credits.stop()
      await keyUses.stop()
      await events.stop()
      await revocations.stop()
    },
  }
}

/** Clients' budgets of logins that the networks of an IPv6 /48 have together. */
const LOGINS_OF_A_SITE = 10

/** How long answers under way and the feed's goodbyes may take; the process has 10 s to end (rule J5). */
const GRACE_MS = 3000
