import { LRUCache } from 'lru-cache'
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible'
import type { Redis } from '../redis-connection.ts'

/** Result of counting one request of a client. */
export interface Allowance {
  readonly allowed: boolean
  readonly left: number
  /** Whole seconds until the window ends and the quota is full again; at least 1. */
  readonly resetSeconds: number
}

/**
 * A quota of requests for each client, in a window that starts with its first request (rule D6).
 */
export interface RateLimit {
  /** Name of the policy in the `RateLimit` fields. */
  readonly name: string
  readonly quota: number
  readonly windowSeconds: number
  /** Counts one request. Never rejects. */
  take(client: string): Promise<Allowance>
  /** Milliseconds until a client known to be over the limit may send requests again; else 0. */
  exhaustedMs(client: string): number
  /** Whether `take` answers without Redis, or is likely to refuse. */
  decidesLocally(client: string): boolean
}

const MINUTE = 60
/** Capacity of the cache of clients over the limit; an evicted client is counted again. */
const MOST_EXHAUSTED = 10_000

/**
 * Creates a limit of `quota` requests per window, by default a minute; null if `quota` is 0, which
 * turns it off. All processes count together on `redis`. With null, and while Redis does not
 * answer, each process counts alone: a broken limiter refuses nobody, and still bounds each client.
 */
export function createRateLimit(
  name: string,
  quota: number,
  redis: Redis | null,
  windowSeconds = MINUTE,
): RateLimit | null {
  if (quota === 0) return null
  const bounds = { points: quota, duration: windowSeconds, keyPrefix: `tw:rate:${name}` }
  const alone = new RateLimiterMemory(bounds)
  const limiter =
    redis === null
      ? alone
      : new RateLimiterRedis({
          ...bounds,
          storeClient: redis,
          rejectIfRedisNotReady: true,
          insuranceLimiter: alone,
          // A client over the quota is refused without asking Redis again.
          inMemoryBlockOnConsumed: quota + 1,
        })
  const exhausted = new LRUCache<string, true>({ max: MOST_EXHAUSTED })
  const take = redis === null ? takeOne(limiter) : takeTogether(limiter, quota)
  return {
    name,
    quota,
    windowSeconds,
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
 * Counts requests of one client in the same turn of the event loop in one step. Each gets the
 * result it would have had alone, in order of arrival.
 */
function takeTogether(limiter: RateLimiterAbstract, quota: number): RateLimit['take'] {
  const waitingByClient = new Map<string, ((allowance: Promise<Allowance>) => void)[]>()

  function takeWaiting(): void {
    for (const [client, waiting] of waitingByClient) {
      const taken = consume(limiter, client, waiting.length)
      for (const [index, tell] of waiting.entries())
        tell(
          taken.then(([isWithin, counted]) => {
            const over = counted.consumedPoints - waiting.length + index + 1 - quota
            // For a client known to be over the quota, the limiter returns no count.
            const isKnown = isWithin || counted.consumedPoints > 0
            return {
              ...allowance(isKnown && over <= 0, counted),
              left: isKnown ? Math.max(0, -over) : 0,
            }
          }),
        )
    }
    waitingByClient.clear()
  }

  return (client) =>
    new Promise((resolve) => {
      if (waitingByClient.size === 0) setImmediate(takeWaiting)
      const waiting = waitingByClient.get(client) ?? []
      waitingByClient.set(client, waiting)
      waiting.push(resolve)
    })
}

/** Whether the requests are within the quota, and the count after them. */
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
