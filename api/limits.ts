import { type ApiConfig, NO_FIRST_CREDITS } from './config.ts'
import type { AccountLimit } from './middleware/limit-account.ts'
import { createRateLimit, type RateLimit } from './rate-limits/rate-limit.ts'
import type { Redis } from './redis-connection.ts'

/** Every limit of requests (rule D6); null if the configuration disables it. */
export interface Limits {
  /** Requests of a client. */
  readonly client: RateLimit | null
  /** Login requests of a client. */
  readonly login: RateLimit | null
  /** Login requests of an IPv6 /48. */
  readonly loginSite: RateLimit | null
  /** Login requests for a wallet. */
  readonly loginWallet: RateLimit | null
  /** Invalid credentials of a client. */
  readonly failedAuth: RateLimit | null
  /** New accounts of a day that get first credits (rule L19); counted for one client, `all`. */
  readonly firstCredits: RateLimit | null
  /** Requests with an API key, by account. */
  readonly account: AccountLimit
  /** Requests with a dashboard token, by wallet. */
  readonly dashboard: AccountLimit
}

/** Creates the limits. All processes count together on `redis`; with null each counts alone. */
export function createLimits(config: ApiConfig, redis: Redis | null): Limits {
  const { accountLimits, firstCredits = NO_FIRST_CREDITS, loginRateLimitPerMinute } = config
  return {
    client: createRateLimit('default', config.rateLimitPerMinute, redis),
    login: createRateLimit('login', loginRateLimitPerMinute, redis),
    loginSite: createRateLimit('login-network', CLIENTS_PER_SITE * loginRateLimitPerMinute, redis),
    loginWallet: createRateLimit('login-wallet', loginRateLimitPerMinute, redis),
    failedAuth: createRateLimit('auth', config.failedAuthLimitPerMinute, redis),
    firstCredits: createRateLimit('first-credits', firstCredits.accountsPerDay, redis, DAY_SECONDS),
    account: {
      concurrencyName: 'account-concurrent',
      rate: createRateLimit('account', accountLimits.requestsPerMinute, redis),
      atOnce: accountLimits.concurrentRequests,
    },
    dashboard: {
      concurrencyName: 'dashboard-concurrent',
      rate: createRateLimit('dashboard', accountLimits.dashboardRequestsPerMinute, redis),
      atOnce: accountLimits.dashboardConcurrentRequests,
    },
  }
}

const DAY_SECONDS = 86_400

/** An IPv6 /48 may send as many login requests as this many clients. */
const CLIENTS_PER_SITE = 10

/**
 * Returns how many credits the next new account gets (rule L19), and counts it. Later accounts of a
 * day get none, because anybody can make a wallet.
 */
export function firstCreditsOf(config: ApiConfig, limits: Limits): () => Promise<number> {
  const { credits } = config.firstCredits ?? NO_FIRST_CREDITS
  const quota = limits.firstCredits
  if (credits === 0 || quota === null) return async () => 0
  return async () => ((await quota.take('all')).allowed ? credits : 0)
}
