import { LRUCache } from 'lru-cache'
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible'
import type { Redis } from '../redis-connection.ts'

/** What is left of a client's requests after one more. */
export interface Allowance {
  readonly allowed: boolean
  readonly left: number
  /** Whole seconds until the window ends and all are there again; at least 1. */
  readonly resetSeconds: number
}

/** So many requests in a minute for each client, counted from its first (rule D6). */
export interface RateLimit {
  /** As the `RateLimit` fields name it. */
  readonly name: string
  readonly quota: number
  readonly windowSeconds: number
  /** Counts one request. Never rejects. */
  take(client: string): Promise<Allowance>
  /** Milliseconds until a client that is known to have nothing left may ask again; else 0. */
  exhaustedMs(client: string): number
  /** Whether `take` does not wait for Redis, or is likely to refuse. */
  decidesLocally(client: string): boolean
}

const WINDOW_SECONDS = 60
/** How many clients with nothing left are remembered; an evicted one is counted again. */
const MOST_EXHAUSTED = 10_000

/**
 * A limit of `quota` requests a minute; null when it is 0, which is off. All processes count
 * together on `redis`; without one, and while Redis does not answer, each process counts alone: a
 * limiter that is down keeps nobody out, and lets nobody in without bound.
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
  const exhausted = new LRUCache<string, true>({ max: MOST_EXHAUSTED })
  const take = redis === null ? takeOne(limiter) : takeTogether(limiter, quota)
  return {
    name,
    quota,
    windowSeconds: WINDOW_SECONDS,
    async take(client) {
      const allowance = await take(client)
      if (allowance.left === 0 && !exhausted.has(client))
        exhausted.set(client, true, { ttl: allowance.resetSeconds * 1000 })
      return allowance
    },
    exhaustedMs: (client) => exhausted.getRemainingTTL(client),
    decidesLocally: (client) => redis === null || exhausted.has(client),
  }
}

function takeOne(limiter: RateLimiterAbstract): RateLimit['take'] {
  return async (client) => allowance(...(await consume(limiter, client, 1)))
}

/**
 * Requests of one client in the same turn are counted in one step: each is told as if it had been
 * counted alone, in the order in which they came.
 */
function takeTogether(limiter: RateLimiterAbstract, quota: number): RateLimit['take'] {
  const asked = new Map<string, ((allowance: Promise<Allowance>) => void)[]>()

  function takeAsked(): void {
    for (const [client, waiting] of asked) {
      const taken = consume(limiter, client, waiting.length)
      for (const [index, tell] of waiting.entries())
        tell(
          taken.then(([isWithin, counted]) => {
            const over = counted.consumedPoints - waiting.length + index + 1 - quota
            // Who is known to be over it is told no count.
            const isKnown = isWithin || counted.consumedPoints > 0
            return {
              ...allowance(isKnown && over <= 0, counted),
              left: isKnown ? Math.max(0, -over) : 0,
            }
          }),
        )
    }
    asked.clear()
  }

  return (client) =>
    new Promise((resolve) => {
      if (asked.size === 0) setImmediate(takeAsked)
      const waiting = asked.get(client) ?? []
      asked.set(client, waiting)
      waiting.push(resolve)
    })
}

/** Whether so many more are within the quota, and the count after them. */
async function consume(
  limiter: RateLimiterAbstract,
  client: string,
  requests: number,
): Promise<[boolean, RateLimiterRes]> {
  try {
    return [true, await limiter.consume(client, requests)]
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return [false, refused]
    throw refused
  }
}

function allowance(allowed: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes): Allowance {
  return {
    allowed,
    left: Math.max(0, remainingPoints),
    resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
  }
}
