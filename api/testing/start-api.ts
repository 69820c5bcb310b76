import { randomBytes } from 'node:crypto'
import bs58 from 'bs58'
import type { Address } from '../../pipeline/domain/address.ts'
import type { Perturb } from '../../pipeline/domain/perturbation.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger, type Logger } from '../../pipeline/runtime/logger.ts'
import type { Readiness } from '../../pipeline/runtime/readiness.ts'
import { createRegistry, type Registry } from '../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { createAccountLocks } from '../account-locks.ts'
import { Accounts } from '../accounts/accounts.ts'
import { type Api, createApi } from '../api.ts'
import { newJwtKeys, readJwtKeys } from '../auth/jwt-keys.ts'
import { createTokens } from '../auth/tokens.ts'
import type { Billing } from '../billing/billing.ts'
import { type AccountChannel, createMemoryChannel } from '../channel/account-channel.ts'
import { type ApiConfig, NO_ACCOUNT_LIMITS } from '../config.ts'
import { Credits } from '../credits/credits.ts'
import { Ledger } from '../credits/ledger.ts'
import { createMemoryMeter } from '../credits/memory.ts'
import type { Meter } from '../credits/meter.ts'
import { createCursorCodec } from '../cursor.ts'
import type { LoadShedder } from '../load-shedder.ts'
import type { Redis } from '../redis-connection.ts'
import { Feed } from '../stream/feed.ts'
import { checkAnswers } from './check-answers.ts'
import { cursorKeys } from './cursor-keys.ts'
import { MARKED_PARTITIONS, StateWriter } from './state-writer.ts'

export interface TestApi {
  readonly url: string
  readonly config: ApiConfig
  readonly meter: Meter
  readonly ledger: Ledger
  readonly credits: Credits
  readonly accounts: Accounts
  readonly log: EventLog
  /** Stores rows and moves the marker as the fold does. */
  readonly writer: StateWriter
  /** Creates an account, and returns its key and its wallet. */
  customer(credits: number): Promise<{ key: string; wallet: Address }>
  /** Returns a dashboard token of a wallet, as a login would. */
  token(wallet: Address): Promise<string>
  /** Replaces the token keys, as SIGHUP does. `token` keeps using the keys of `config`. */
  readonly replaceJwtKeys: Api['replaceJwtKeys']
  close(): Promise<void>
}

/**
 * Starts a whole API on a free port over `store`, with log and meter in memory. Every response is
 * checked against the documents; `close` throws if one differs.
 */
export async function startApi(
  store: Store,
  options: {
    readonly meter?: Meter
    readonly readMs?: number
    readonly config?: Partial<ApiConfig>
    readonly redis?: Redis
    /** Default: a new one. */
    readonly channel?: AccountChannel
    readonly perturb?: Perturb
    readonly logger?: Logger
    readonly now?: () => number
    readonly registry?: Registry
    readonly readiness?: Readiness
    readonly loadShedder?: LoadShedder
    /** Creates billing from the parts of the API. */
    readonly billing?: (
      parts: Pick<TestApi, 'meter' | 'ledger' | 'credits' | 'accounts'>,
    ) => Billing
  } = {},
): Promise<TestApi> {
  const { logger = createLogger('silent') } = options
  const { registry = createRegistry(), now = Date.now } = options
  const { meter = createMemoryMeter(), readMs = 10_000 } = options
  const ledger = new Ledger({ store, meter })
  const credits = new Credits({ meter, ledger, logger })
  const { redis = null, perturb = null, channel = createMemoryChannel() } = options
  const accounts = new Accounts({ store, ledger, locks: createAccountLocks(redis), now })
  const log = createMemoryLog({ logger, registry }, { partitions: MARKED_PARTITIONS })
  const config: ApiConfig = {
    host: '127.0.0.1',
    port: 0,
    publicUrl: null,
    ...cursorKeys(7),
    jwtKeys: await readJwtKeys(await newJwtKeys(), 'test'),
    connectionsPerKey: 1,
    rateLimitPerMinute: 0,
    loginRateLimitPerMinute: 0,
    failedAuthLimitPerMinute: 0,
    keyLookUpsAtOnce: 4,
    accountLimits: NO_ACCOUNT_LIMITS,
    feedMessagesPerMinute: 0,
    trustedProxies: 0,
    corsOrigins: [],
    ...options.config,
  }
  const cursors = createCursorCodec(config)
  const { connectionsPerKey, feedMessagesPerMinute: messagesPerMinute } = config
  const feed = new Feed(
    { channel, log, credits, logger, registry, cursors, connectionsPerKey, messagesPerMinute },
    { now },
  )
  const api = createApi({
    config,
    store,
    log,
    feed,
    channel,
    credits,
    accounts,
    billing: options.billing?.({ meter, ledger, credits, accounts }) ?? null,
    redis,
    perturb,
    logger,
    registry,
    readMs,
    now,
    ...(options.readiness && { readiness: options.readiness }),
    ...(options.loadShedder && { loadShedder: options.loadShedder }),
  })
  const checks = checkAnswers()
  const { url } = await api.listen()
  const tokens = createTokens({
    keys: () => config.jwtKeys,
    issuer: () => config.publicUrl ?? url,
    revocations: {
      has: async () => false,
      generationOf: async () => 0,
      add: async () => {},
      addAll: async () => {},
    },
    now,
  })
  return {
    url,
    config,
    meter,
    ledger,
    credits,
    accounts,
    log,
    writer: new StateWriter(store, log),
    async customer(granted) {
      const wallet = bs58.encode(randomBytes(32)) as Address // 32 bytes
      const { apiKey } = await accounts.create(wallet, granted)
      return { key: apiKey, wallet }
    },
    replaceJwtKeys: api.replaceJwtKeys,
    token: async (wallet) => (await tokens.issue(wallet)).token,
    async close() {
      await api.close()
      checks.stop()
      await log.close()
      await meter.close()
    },
  }
}
