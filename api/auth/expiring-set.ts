import { asked, type Redis } from '../redis-connection.ts'

/**
 * Texts that are known until their time: what was handed out once, what was taken back. On Redis for all processes, or in memory for one; both pass
 * `expiring-set.contract.test.ts`. Bounded: beyond its limit the oldest texts are forgotten, so that a flood has to keep up with everybody who answers at once. Every
 * method rejects with a retriable ServiceError `unavailable` when Redis does not answer.
 */
export interface ExpiringSet {
  /** `until`: unix milliseconds, not before that of an earlier text. */
  add(text: string, until: number): Promise<void>
  has(text: string): Promise<boolean>
  /** Forgets a text; true for one caller alone, whoever else takes it at the same time. */
  take(text: string): Promise<boolean>
}

interface Options {
  readonly limit: number
  readonly now?: () => number
}

/** The set of one process. */
export function createMemorySet({ limit, now = Date.now }: Options): ExpiringSet {
  const untils = new Map<string, number>()
  const isKnown = (text: string) => (untils.get(text) ?? 0) > now()
  return {
    async add(text, until) {
      untils.delete(text)
      untils.set(text, until)
      for (const [oldest, end] of untils) {
        if (end > now() && untils.size <= limit) break
        untils.delete(oldest)
      }
    },
    has: async (text) => isKnown(text),
    async take(text) {
      const known = isKnown(text)
      untils.delete(text)
      return known
    },
  }
}

/** The set that all processes share: a sorted set `tw:<name>` of texts by the time until which they are known. */
export function createRedisSet(
  redis: Redis,
  name: string,
  { limit, now = Date.now }: Options,
): ExpiringSet {
  const key = `tw:${name}`
  return {
    async add(text, until) {
      await asked(
        redis
          .multi()
          .zadd(key, until, text)
          .zremrangebyscore(key, '-inf', now())
          .zremrangebyrank(key, 0, -1 - limit)
          .exec(),
      )
    },
    async has(text) {
      const until = await asked(redis.zscore(key, text))
      return until !== null && Number(until) > now()
    },
    async take(text) {
      // Removing is the one step that only one caller sees done.
      const [until, removed] = await asked(
        Promise.all([redis.zscore(key, text), redis.zrem(key, text)]),
      )
      return removed === 1 && Number(until) > now()
    },
  }
}
