import type { Perturb } from '../pipeline/domain/perturbation.ts'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import type { EventLog } from '../pipeline/log/log.ts'
import type { Logger } from '../pipeline/runtime/logger.ts'
import { createReadiness, type Readiness } from '../pipeline/runtime/readiness.ts'
import type { OnStage } from '../pipeline/runtime/slot-stage.ts'
import type { AddSpan } from '../pipeline/runtime/span.ts'
import type { Registry } from '../pipeline/runtime/telemetry.ts'
import type { Store } from '../pipeline/store/store.ts'
import { createTimelyStore } from '../pipeline/store/timely-store.ts'
import { createAccountLocks } from './account-locks.ts'
import { AccountAccess } from './accounts/account-access.ts'
import { AccountEvents } from './accounts/account-events.ts'
import { createAccountKeys } from './accounts/account-keys.ts'
import type { Accounts } from './accounts/accounts.ts'
import { KeyUses } from './accounts/key-uses.ts'
import { createApp } from './app.ts'
import type { JwtKeys } from './auth/jwt-keys.ts'
import { createProductKeys } from './auth/product-keys.ts'
import { Revocations } from './auth/revocations.ts'
import { SessionUses } from './auth/session-uses.ts'
import { createSessions } from './auth/sessions.ts'
import type { Billing } from './billing/billing.ts'
import { type AccountChannel, createMemoryChannel } from './channel/account-channel.ts'
import type { ApiConfig } from './config.ts'
import type { ConnectionLimits } from './connections.ts'
import type { Credits } from './credits/credits.ts'
import { createCursorCodec } from './cursor.ts'
import type { TestWalletOptions } from './dashboard/shell.ts'
import { isPositionOf } from './delivery/hook-source.ts'
import { FairReads } from './fair-reads.ts'
import { createHttpServer } from './http-server.ts'
import type { AccountBounds } from './items/account.ts'
import { createLimits, firstCreditsOf } from './limits.ts'
import { createLoadShedder, type LoadShedder } from './load-shedder.ts'
import type { Redis } from './redis-connection.ts'
import { KnownFacts } from './rows/known-facts.ts'
import { shedLoad } from './shed-load.ts'
import { StateReader } from './state-reader.ts'
import { followStorage, type StoragePosition } from './storage-position.ts'
import type { Feed } from './stream/feed.ts'
import { type ApiMetrics, collectProgress, createApiMetrics } from './telemetry.ts'
import { WebhookSecrets } from './webhooks/signature.ts'
import { Webhooks } from './webhooks/webhooks.ts'

/** Dependencies of the API. The caller creates and closes them. */
export interface ApiDeps {
  readonly config: ApiConfig
  readonly store: Store
  readonly log: EventLog
  readonly feed: Feed
  readonly credits: Credits
  readonly accounts: Accounts
  /** Null without payment addresses: customers cannot pay then. */
  readonly billing?: Billing | null
  /**
   * Redis counts the rate limits of all processes together (rule D6). Null: each process counts its
   * own.
   */
  readonly redis: Redis | null
  /** Messages between processes about accounts; default: a channel for one process. */
  readonly channel?: AccountChannel
  /** The privacy filter (rule I2); null serves trades unchanged. */
  readonly perturb: Perturb | null
  readonly logger: Logger
  readonly registry: Registry
  /** Readiness checks of this process, to which the API adds its own; default: a new set. */
  readonly readiness?: Readiness
  /** Ends the process with an error. Default: it is logged. */
  readonly fail?: (error: unknown) => void
  /** Decides which calls are refused under overload; default: by the configuration. */
  readonly loadShedder?: LoadShedder
  /** Called when a slot is `stored`, `arrived`, `merged` and `written`. */
  readonly onStage?: OnStage | undefined
  /** Takes the trace of each request (rule K22); default: requests are not traced. */
  readonly addSpan?: AddSpan | undefined
  readonly now?: () => number
  /** Options of the dashboard's test wallet; only with the simulator. */
  readonly testWallet?: TestWalletOptions | null
  /** Timeout of a store read, in milliseconds; default 10000. */
  readonly readMs?: number
}

/** A created API, not listening yet. */
export interface Api {
  /**
   * Starts answering and returns the port. Rejects with a ServiceError that names the environment
   * variable at fault.
   */
  listen(): Promise<{ readonly port: number; readonly url: string }>
  /** Replaces the keys that sign and verify dashboard tokens. */
  replaceJwtKeys(keys: JwtKeys): void
  /**
   * Stops accepting requests, finishes requests in flight, asks clients of the feed to reconnect,
   * and charges their use.
   */
  close(): Promise<void>
}

/** Creates the API of one process: REST and the feed on one port (rules of sections D, F). */
export function createApi(deps: ApiDeps): Api {
  const { config, log, feed, credits, redis, logger, readMs = 10_000, now = Date.now } = deps
  const { fail = (error: unknown) => logger.error({ err: error }, 'api stands still') } = deps
  const { channel = createMemoryChannel(), readiness = createReadiness() } = deps
  const store = createTimelyStore(deps.store, readMs)
  const reader = new StateReader({ ...deps, onGap: fail })
  const position = followStorage({ store, logger, reader })
  const knownFacts = new KnownFacts()
  const metrics = createApiMetrics(deps.registry)
  const server = createHttpServer(connectionLimits(config, metrics))
  readiness.add(readinessChecks(deps, store, position))
  const stages = {
    ingest: () => feed.sealed(),
    storage: position.stored,
    feed: () => feed.sent(),
  }
  collectProgress(deps.registry, stages, credits)
  let url = ''
  const publicUrl = () => config.publicUrl ?? url
  let { jwtKeys } = config
  const keyUses = new KeyUses({ store, logger, now })
  const onDropped = () => metrics.eventsDropped.inc()
  const sessionUses = new SessionUses({ store, logger, now })
  const events = new AccountEvents({ store, logger, now, onDropped })
  const access = new AccountAccess({ accounts: deps.accounts, channel, readMs, now })
  const revocations = new Revocations({ store, redis, logger, now, waitMs: readMs })
  const { tokens, login } = createSessions({
    revocations,
    channel,
    events,
    sessionUses,
    metrics,
    redis,
    secretKeys: config.secretKeys,
    jwtKeys: () => jwtKeys,
    publicUrl,
    now,
  })
  const { keys, onKeyRefused } = createAccountKeys({
    accounts: deps.accounts,
    channel,
    access,
    keyUses,
    events,
    lookUpsAtOnce: config.keyLookUpsAtOnce,
    lookUpMs: readMs,
    now,
  })
  const cursors = createCursorCodec(config)
  const limits = createLimits(config, redis)
  const { storeReads } = config.accountLimits
  const reads = new FairReads(deps.store, { perAccount: storeReads, timeoutMs: readMs })
  const app = createApp({
    ...deps,
    store,
    position,
    reader,
    reads,
    knownFacts,
    cursors,
    epoch: log.epoch,
    billing: deps.billing ?? null,
    keys: createProductKeys({ keys, tokens, access }),
    access,
    keyUses,
    sessionUses,
    webhooks: new Webhooks({ store, locks: createAccountLocks(redis), now }),
    hookSecrets: new WebhookSecrets(config.secretKeys),
    isPosition: (channel, text) => isPositionOf(channel, cursors, text),
    webhookLoopback: config.webhookLoopback ?? false,
    onKeyRefused,
    events,
    tokens,
    login,
    jwtKeys: () => jwtKeys,
    channel,
    upgradeOf: server.upgradeOf,
    readiness,
    metrics,
    limits,
    firstCredits: firstCreditsOf(config, limits),
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    accountBounds: boundsOf(config),
    solPriceMaxAgeSeconds: config.solPriceMaxAgeSeconds ?? 3600,
    securityContact: config.securityContact ?? null,
    serverUrl: publicUrl,
    testWallet: deps.testWallet ?? null,
    now,
  })
  const listener = shedLoad(app.callback(), {
    shedder: deps.loadShedder ?? createLoadShedder({ limitMs: config.shedLoadAboveMs ?? 0 }),
    corsOrigins: config.corsOrigins,
    onShed: () => metrics.requestsShed.inc(),
  })
  return {
    async listen() {
      await position.start()
      await revocations.start()
      const symbolOf = (mint: string) => knownFacts.symbolOf(store, mint)
      await feed.start({ ...position, symbolOf }, store, (account) => reads.storeOf(account))
      credits.start()
      keyUses.start()
      sessionUses.start()
      events.start()
      const port = await server.listen(listener, config.host, config.port)
      url = urlOf(config.host, port)
      logger.info({ port }, 'api listens')
      return { port, url }
    },
    replaceJwtKeys(keys) {
      jwtKeys = keys
      feed.checkTokens()
    },
    async close() {
      await Promise.all([server.close(GRACE_MS), feed.stop(GRACE_MS)])
      const parts = [position, credits, keyUses, sessionUses, events, revocations]
      await Promise.all(parts.map((part) => part.stop()))
    },
  }
}

/** The bounds of each account; 0 in the configuration: none. */
function boundsOf({
  accountLimits,
  connectionsPerKey,
  feedMessagesPerMinute,
}: ApiConfig): AccountBounds {
  const { requestsPerMinute, concurrentRequests } = accountLimits
  return {
    requestsPerMinute: requestsPerMinute || null,
    concurrentRequests: concurrentRequests || null,
    feedConnections: connectionsPerKey,
    feedMessagesPerMinute: feedMessagesPerMinute || null,
  }
}

function connectionLimits(config: ApiConfig, metrics: ApiMetrics): ConnectionLimits {
  const { maxConnections = 0, maxConnectionsPerAddress = 0, trustedProxies } = config
  return {
    maxConnections,
    // Behind proxies the address of a connection is the proxy's, not the client's.
    maxConnectionsPerAddress: trustedProxies === 0 ? maxConnectionsPerAddress : 0,
    onRefused: (reason) => metrics.connectionsRefused.inc({ reason }),
  }
}

function readinessChecks(
  { log, credits, feed }: ApiDeps,
  store: Store,
  position: StoragePosition,
): Parameters<Readiness['add']>[0] {
  return {
    store: () => store.ping(),
    log: () => log.ping(),
    meter: () => credits.ping(),
    marker: async () => {
      if (position.stored() === null || feed.sent() === null)
        throw new ServiceError('unavailable', 'no slot has been stored and published yet')
    },
  }
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Time for responses in flight and closing frames of the feed. The process has 10 s (rule J5). */
const GRACE_MS = 3000
