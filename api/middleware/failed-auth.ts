import type { ParameterizedContext as Context } from 'koa'
import type { FailureBudget } from '../accounts/key-cache.ts'
import type { Allowance, RateLimit } from '../rate-limits/rate-limit.ts'
import { applyAllowance, clientOfRequest } from './limit-rate.ts'

/**
 * Returns the client's budget of invalid credentials (`FAILED_AUTH_LIMIT_PER_MINUTE`). A guessed
 * key costs a query of the store, which is shared with ingest and all readers.
 */
export type FailedAuth = (ctx: Context) => FailureBudget

/**
 * Creates the budgets; `require` throws `rate_limited`. With `limit` null they are unlimited. Each
 * process remembers which clients used up their budget. With Redis, another process learns it when
 * it counts the next invalid credential of that client.
 */
export function createFailedAuth(limit: RateLimit | null, trustedProxies: number): FailedAuth {
  if (limit === null) return () => ({ require() {}, count: async () => {} })
  return (ctx) => ({
    require() {
      const client = clientOfRequest(ctx, trustedProxies)
      const waitMs = limit.exhaustedMs(client)
      if (waitMs > 0) applyAllowance(ctx, limit.name, limit, nothingLeft(waitMs), TITLE)
    },
    async count() {
      await limit.take(clientOfRequest(ctx, trustedProxies))
    },
  })
}

function nothingLeft(waitMs: number): Allowance {
  return { allowed: false, left: 0, resetSeconds: Math.ceil(waitMs / 1000) }
}

const TITLE =
  'Too many invalid keys or tokens from this address. Retry after the time in Retry-After.'
