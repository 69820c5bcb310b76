import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { orUnavailable, type Redis } from '../redis-connection.ts'
import { CLOCK_SKEW_MS, NONCE_MS } from './sign-in-message.ts'

/**
 * Nonces that logins used up, each kept until its message has expired by every process's clock. On
 * Redis for all processes, or in memory for one; both pass `used-nonces.contract.test.ts`.
 */
export interface UsedNonces {
  /**
   * Uses a nonce up. True for one caller alone, however many try at the same time. `issuedAt` is of
   * its message, in unix milliseconds. Rejects with a retriable ServiceError `unavailable` when
   * Redis does not answer, or as many nonces as the limit are kept: none is forgotten before its
   * time.
   */
  use(nonce: string, issuedAt: number): Promise<boolean>
}

interface Options {
  readonly limit: number
  readonly now?: () => number
}

/** The nonces of one process. */
export function createMemoryUsedNonces({ limit, now = Date.now }: Options): UsedNonces {
  /** Until when each is kept; in that order, for all are kept equally long. */
  const untils = new Map<string, number>()
  return {
    async use(nonce) {
      for (const [oldest, until] of untils) {
        if (until > now()) break
        untils.delete(oldest)
      }
      if (untils.has(nonce)) return false
      if (untils.size >= limit) throw full()
      untils.set(nonce, now() + KEPT_MS)
      return true
    },
  }
}

/**
 * The nonces of all processes: a sorted set `tw:<name>` of nonces by the time until which they are
 * kept. When the connection is lost, Redis may have lost the newest of them. So nonces issued
 * before that are taken as used, and their wallets sign another message.
 */
export function createRedisUsedNonces(
  redis: Redis,
  name: string,
  { limit, now = Date.now }: Options,
): UsedNonces {
  let lostAt = Number.NEGATIVE_INFINITY
  redis.on('close', () => {
    lostAt = now()
  })
  return {
    async use(nonce, issuedAt) {
      if (issuedAt <= lostAt + CLOCK_SKEW_MS) return false
      const used = redis.eval(USE, 1, `tw:${name}`, nonce, now(), now() + KEPT_MS, KEPT_MS, limit)
      const outcome = await orUnavailable(used)
      if (outcome === 'full') throw full()
      return outcome === 'first'
    },
  }
}

function full(): ServiceError {
  return new ServiceError('unavailable', 'too many logins in five minutes', { retriable: true })
}

/** How long a used nonce is kept: its lifetime, and twice what clocks of processes may differ. */
const KEPT_MS = NONCE_MS + 2 * CLOCK_SKEW_MS

/** KEYS: the set. ARGV: nonce, now, kept until, kept for, limit. */
const USE = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 'used' end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[5]) then return 'full' end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 'first'`
