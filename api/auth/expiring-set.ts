import { orUnavailable, type Redis } from '../redis-connection.ts'

/**
 * A set of strings that each expire at a given time, for example the ids of revoked tokens. Redis
 * shares one set among all processes; memory serves one process. Both pass
 * `expiring-set.contract.test.ts`. The set is bounded: beyond its limit the strings that expire
 * first are evicted. Every method rejects with a retriable ServiceError `unavailable` when Redis
 * does not answer.
 */
export interface ExpiringSet {
  /**
   * `until` is in unix milliseconds and not before that of an earlier string. It never shortens the
   * time of a string that the set already has.
   */
  add(text: string, until: number): Promise<void>
  has(text: string): Promise<boolean>
  /** When a string expires, in unix milliseconds; 0 if the set does not have it. */
  untilOf(text: string): Promise<number>
}

interface Options {
  readonly limit: number
  readonly now?: () => number
}

/** Creates the set of a single process. */
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
 * Creates the set that all processes share: a sorted set `tw:<name>` of strings, scored by the time
 * at which they expire.
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
