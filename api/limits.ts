import type { ApiConfig } from './config.ts'
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
  /** Requests with an API key, by account. */
  readonly account: AccountLimit
  /** Requests with a dashboard token, by wallet. */
  readonly dashboard: AccountLimit
}

/** Creates the limits. All processes count together on `redis`; with null each counts alone. */
export function createLimits(config: ApiConfig, redis: Redis | null): Limits {
  const { accountLimits, loginRateLimitPerMinute } = config
  return {
    client: createRateLimit('default', config.rateLimitPerMinute, redis),
    login: createRateLimit('login', loginRateLimitPerMinute, redis),
    loginSite: createRateLimit('login-network', CLIENTS_PER_SITE * loginRateLimitPerMinute, redis),
    loginWallet: createRateLimit('login-wallet', loginRateLimitPerMinute, redis),
    failedAuth: createRateLimit('auth', config.failedAuthLimitPerMinute, redis),
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

/** An IPv6 /48 may send as many login requests as this many clients. */
const CLIENTS_PER_SITE = 10
