import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Redis } from '../redis-connection.ts'

/** What is left of a client's requests after one more. */
export interface Allowance {
  readonly allowed: boolean
  readonly left: number
  /** Whole seconds until the window ends and all are there again; at least 1. */
  readonly resetSeconds: number
}

/** So many requests in a minute for each client, counted from its first (decisions D6). */
export interface RateLimit {
  /** As the `RateLimit` fields name it. */
  readonly name: string
  readonly quota: number
  readonly windowSeconds: number
  /** Counts one request. Never rejects. */
  take(client: string): Promise<Allowance>
}

const WINDOW_SECONDS = 60

/**
 * A limit of `quota` requests a minute; null when it is 0, which is off. All processes count together on `redis`; without one, and while Redis does not
 * answer, each process counts alone: a limiter that is down keeps nobody out, and lets nobody in without bound.
 */
export function createRateLimit(
  name: string,
  quota: number,
  redis: Redis | null,
): RateLimit | null {
  if (quota === 0) return null
  const bounds = { points: quota, duration: WINDOW_SECONDS, keyPrefix: `tw:rate:${name}` }
  const alone = new RateLimiterMemory(bounds)
  const limiter =
    redis === null
      ? alone
      : new RateLimiterRedis({
          ...bounds,
          storeClient: redis,
          rejectIfRedisNotReady: true,
          insuranceLimiter: alone,
          // Who is over it is refused without asking again.
          inMemoryBlockOnConsumed: quota + 1,
        })
  return {
    name,
    quota,
    windowSeconds: WINDOW_SECONDS,
    async take(client) {
      try {
        return allowance(true, await limiter.consume(client))
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return allowance(false, refused)
        throw refused
      }
    },
  }
}

function allowance(allowed: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes): Allowance {
  return {
    allowed,
    left: Math.max(0, remainingPoints),
    resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
  }
}
