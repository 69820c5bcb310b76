import { orUnavailable, type Redis } from '../redis-connection.ts'

/**
 * Texts that are known until their time, as the ids of revoked tokens. On Redis for all processes,
 * or in memory for one; both pass `expiring-set.contract.test.ts`. Bounded: beyond its limit the
 * oldest texts are forgotten. Every method rejects with a retriable ServiceError `unavailable` when
 * Redis does not answer.
 */
export interface ExpiringSet {
  /**
   * `until`: unix milliseconds, not before that of an earlier text. A text that is known until
   * later stays so.
   */
  add(text: string, until: number): Promise<void>
  has(text: string): Promise<boolean>
  /** Until when a text is known, in unix milliseconds; 0: it is not. */
  untilOf(text: string): Promise<number>
}

interface Options {
  readonly limit: number
  readonly now?: () => number
}

/** The set of one process. */
export function createMemorySet({ limit, now = Date.now }: Options): ExpiringSet {
  const untils = new Map<string, number>()
  const untilOf = (text: string) => {
    const until = untils.get(text) ?? 0
    return until > now() ? until : 0
  }
  return {
    async add(text, until) {
      const before = untils.get(text) ?? 0
      untils.delete(text)
      untils.set(text, Math.max(until, before))
      for (const [oldest, end] of untils) {
        if (end > now() && untils.size <= limit) break
        untils.delete(oldest)
      }
    },
    has: async (text) => untilOf(text) > 0,
    untilOf: async (text) => untilOf(text),
  }
}

/**
 * The set that all processes share: a sorted set `tw:<name>` of texts by the time until which they
 * are known.
 */
export function createRedisSet(
  redis: Redis,
  name: string,
  { limit, now = Date.now }: Options,
): ExpiringSet {
  const key = `tw:${name}`
  const untilOf = async (text: string) => {
    const until = Number(await orUnavailable(redis.zscore(key, text)))
    return until > now() ? until : 0
  }
  return {
    async add(text, until) {
      await orUnavailable(
        redis
          .multi()
          .zadd(key, 'GT', until, text)
          .zremrangebyscore(key, '-inf', now())
          .zremrangebyrank(key, 0, -1 - limit)
          .exec(),
      )
    },
    has: async (text) => (await untilOf(text)) > 0,
    untilOf,
  }
}
