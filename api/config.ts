import {
  type EnvOf,
  envBoolean,
  envInteger,
  envList,
  envString,
  envText,
  envUrl,
} from '../pipeline/runtime/env.ts'
import type { JwtKeys } from './auth/jwt-keys.ts'
import { readRedisUrl } from './redis-url.ts'
import type { SecretKeys } from './secret-key.ts'

/** The environment of the API (rule J2). */
export const apiEnv = {
  HOST: envText('a host name or IP address', '127.0.0.1', (text) =>
    /^[A-Za-z0-9.:_-]{1,253}$/.test(text) ? text : undefined,
  ).default('127.0.0.1'),
  PORT: envInteger(0, 65535, 8080).default(8080),
  REDIS_URL: envText(
    'a URL starting with redis://, rediss://, redis+sentinel:// or rediss+sentinel://',
    'redis://user:password@redis:6379 or redis+sentinel://user:password@host1:26379,host2:26379/mymaster',
    readRedisUrl,
  ).optional(),
  SECRET_KEY: envText(
    'different keys of at least 32 bytes in hex or base64, separated by commas',
    'one of openssl rand -hex 32',
    readSecrets,
  ).optional(),
  TRADE_ID_KEY: envText('at least 32 bytes in hex or base64', 'of openssl rand -hex 32', (text) =>
    readSecret(text),
  ).optional(),
  JWT_KEYS_FILE: envString().optional(),
  PUBLIC_URL: envUrl(['http', 'https'], 'https://api.example').optional(),
  CORS_ORIGINS: envList('origins', 'https://app.example,https://other.example', (text) =>
    URL.canParse(text) && new URL(text).origin === text ? text : undefined,
  ).optional(),
  TRUSTED_PROXIES: envInteger(0, 10, 1).default(0),
  RATE_LIMIT_PER_MINUTE: envInteger(0, 10_000_000, 6000).default(6000),
  LOGIN_RATE_LIMIT_PER_MINUTE: envInteger(0, 10_000_000, 10).default(10),
  MAX_CONNECTIONS: envInteger(1, 1_000_000, 10_000).default(10_000),
  MAX_CONNECTIONS_PER_ADDRESS: envInteger(0, 1_000_000, 256).default(256),
  SHED_LOAD_ABOVE_MS: envInteger(0, 10_000, 50).default(50),
  SECURITY_CONTACT: envText(
    'a mailto: or https: URI',
    'mailto:security@example.org',
    readContact,
  ).optional(),
  FAILED_AUTH_LIMIT_PER_MINUTE: envInteger(0, 10_000_000, 60).default(60),
  KEY_LOOKUPS_AT_ONCE: envInteger(1, 1000, 64).default(64),
  ACCOUNT_RATE_LIMIT_PER_MINUTE: envInteger(0, 10_000_000, 6000).default(6000),
  ACCOUNT_CONCURRENT_REQUESTS: envInteger(0, 10_000, 32).default(32),
  ACCOUNT_STORE_READS: envInteger(0, 1000, 2).default(2),
  DASHBOARD_RATE_LIMIT_PER_MINUTE: envInteger(0, 10_000_000, 120).default(120),
  DASHBOARD_CONCURRENT_REQUESTS: envInteger(0, 10_000, 4).default(4),
  CONNECTIONS_PER_KEY: envInteger(1, 1000, 1).default(1),
  FIRST_CREDITS: envInteger(0, 1_000_000, 0).default(0),
  FIRST_CREDITS_ACCOUNTS_PER_DAY: envInteger(1, 1_000_000, 100).default(100),
  FEED_MESSAGES_PER_MINUTE: envInteger(0, 1_000_000, 120).default(120),
  FEED_RETENTION_HOURS: envInteger(24, 10_000, 24).default(24),
  WEBHOOK_LOOPBACK: envBoolean().default(false),
}

/** The configuration of the API. */
export interface ApiConfig {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** The URL at which clients reach the API; null: the address that it listens on. */
  readonly publicUrl: string | null
  /** Encrypt cursors (rule D4) and authenticate nonces. */
  readonly secretKeys: SecretKeys
  /** Derives every `trade_id` (rule K9); at least 32 bytes. */
  readonly tradeIdKey: Uint8Array
  /** Sign and verify dashboard tokens (rule E2). */
  readonly jwtKeys: JwtKeys
  /** Maximum number of feed connections of one key. A newer one closes the oldest (rule F6). */
  readonly connectionsPerKey: number
  /** How far back a reconnecting client can resume the feed (rule F4); default 24. */
  readonly retentionHours?: number
  /** Requests per minute for each client; 0: no limit (rule D6). */
  readonly rateLimitPerMinute: number
  /**
   * Requests per minute to `/auth/nonce` and `/auth/login` together, for each client and for each
   * wallet. An IPv6 /48 may send ten times as many. 0: no limit.
   */
  readonly loginRateLimitPerMinute: number
  /** Open connections of this process, WebSockets included; default: no limit. */
  readonly maxConnections?: number
  /**
   * Open connections of one client address (IPv6: one /64), unless a proxy is trusted; 0, the
   * default: no limit.
   */
  readonly maxConnectionsPerAddress?: number
  /**
   * Milliseconds of a turn of the event loop, beyond which product calls are refused while it
   * cannot keep up (rule D9); 0, the default: none is.
   */
  readonly shedLoadAboveMs?: number
  /** Invalid keys and tokens per minute for each client; 0: no limit. */
  readonly failedAuthLimitPerMinute: number
  /** Look-ups of unknown keys that may run at the same time. */
  readonly keyLookUpsAtOnce: number
  /** Limits of one account, whatever its addresses (rule D6). */
  readonly accountLimits: AccountLimits
  /** Messages that a client may send on a feed connection in a minute; 0: no limit. */
  readonly feedMessagesPerMinute: number
  /** Credits of new accounts (rule L19); default: none. */
  readonly firstCredits?: FirstCredits
  /** Number of proxies in front of this server whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: number
  /**
   * Contact for reports of security problems, a `mailto:` or `https:` URI; default: none is
   * published.
   */
  readonly securityContact?: string | null
  /** How old a price of SOL may be (rule C1); default 3600. */
  readonly solPriceMaxAgeSeconds?: number
  /** Origins whose pages may call the API. */
  readonly corsOrigins: readonly string[]
  /** `WEBHOOK_LOOPBACK`: webhooks may use `http` and loopback, for tests (default: false). */
  readonly webhookLoopback?: boolean
}

/** Accepts printable ASCII without spaces, because the contact is a line of `security.txt`. */
function readContact(text: string): string | undefined {
  const isMail = /^mailto:[!-?A-~]+@[!-?A-~]+$/.test(text)
  return isMail || (/^https:[!-~]+$/.test(text) && URL.canParse(text)) ? text : undefined
}

/** Credits that an account gets with its first key (rule L19). */
export interface FirstCredits {
  /** 0: none. */
  readonly credits: number
  /** Later ones of a day get none. */
  readonly accountsPerDay: number
}

export const NO_FIRST_CREDITS: FirstCredits = { credits: 0, accountsPerDay: 0 }

/** Limits of one account. 0 disables a limit. */
export interface AccountLimits {
  /** Requests per minute with the account's API key. */
  readonly requestsPerMinute: number
  /** Concurrent requests with the account's API key in one process. */
  readonly concurrentRequests: number
  /** Store queries for its responses and feed pages at the same time in one process; more wait. */
  readonly storeReads: number
  /** Requests per minute with dashboard tokens of the account's wallet. */
  readonly dashboardRequestsPerMinute: number
  /** Concurrent requests with dashboard tokens of the account's wallet in one process. */
  readonly dashboardConcurrentRequests: number
}

/** Disables all limits of accounts, for tests. */
export const NO_ACCOUNT_LIMITS: AccountLimits = {
  requestsPerMinute: 0,
  concurrentRequests: 0,
  storeReads: 0,
  dashboardRequestsPerMinute: 0,
  dashboardConcurrentRequests: 0,
}

function readSecret(text: string): Uint8Array | undefined {
  const hex = /^([0-9a-fA-F]{2})+$/.test(text)
  if (!hex && !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined
  const bytes = Buffer.from(text, hex ? 'hex' : 'base64')
  return bytes.length >= 32 ? bytes : undefined
}

function readSecrets(text: string): SecretKeys | undefined {
  const keys = text.split(',').map((part) => readSecret(part.trim()))
  if (!keys.every((key) => key !== undefined)) return undefined
  const [first, ...others] = keys
  const different = new Set(keys.map((key) => Buffer.from(key).toString('hex')))
  if (first === undefined || different.size < keys.length) return undefined
  return [first, ...others]
}

/**
 * Returns the configuration of the API from its environment and its secrets. The embedded service
 * creates the secrets itself (`readOrCreateSecretKey`, `readOrCreateJwtKeys`).
 */
export function apiConfig(
  env: EnvOf<typeof apiEnv>,
  secrets: Pick<ApiConfig, 'secretKeys' | 'tradeIdKey' | 'jwtKeys'>,
): ApiConfig {
  return {
    host: env.HOST,
    port: env.PORT,
    publicUrl: env.PUBLIC_URL?.origin ?? null,
    ...secrets,
    connectionsPerKey: env.CONNECTIONS_PER_KEY,
    retentionHours: env.FEED_RETENTION_HOURS,
    rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
    loginRateLimitPerMinute: env.LOGIN_RATE_LIMIT_PER_MINUTE,
    maxConnections: env.MAX_CONNECTIONS,
    maxConnectionsPerAddress: env.MAX_CONNECTIONS_PER_ADDRESS,
    shedLoadAboveMs: env.SHED_LOAD_ABOVE_MS,
    failedAuthLimitPerMinute: env.FAILED_AUTH_LIMIT_PER_MINUTE,
    keyLookUpsAtOnce: env.KEY_LOOKUPS_AT_ONCE,
    accountLimits: {
      requestsPerMinute: env.ACCOUNT_RATE_LIMIT_PER_MINUTE,
      concurrentRequests: env.ACCOUNT_CONCURRENT_REQUESTS,
      storeReads: env.ACCOUNT_STORE_READS,
      dashboardRequestsPerMinute: env.DASHBOARD_RATE_LIMIT_PER_MINUTE,
      dashboardConcurrentRequests: env.DASHBOARD_CONCURRENT_REQUESTS,
    },
    firstCredits: {
      credits: env.FIRST_CREDITS,
      accountsPerDay: env.FIRST_CREDITS_ACCOUNTS_PER_DAY,
    },
    feedMessagesPerMinute: env.FEED_MESSAGES_PER_MINUTE,
    trustedProxies: env.TRUSTED_PROXIES,
    securityContact: env.SECURITY_CONTACT ?? null,
    corsOrigins: env.CORS_ORIGINS ?? [],
    webhookLoopback: env.WEBHOOK_LOOPBACK,
  }
}
