import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { orUnavailable, type Redis, replicated } from '../redis-connection.ts'
import { CLOCK_SKEW_MS, NONCE_MS } from './sign-in-message.ts'

/**
 * Nonces that a login has used. Each is kept until its message has expired by the clock of every
 * process. Redis shares them among all processes; memory serves one process. Both pass
 * `used-nonces.contract.test.ts`.
 */
export interface UsedNonces {
  /**
   * Marks a nonce as used. Returns true to exactly one caller, also among concurrent ones.
   * `issuedAt` is the time of its message in unix milliseconds. Rejects with a retriable
   * ServiceError `unavailable` when Redis does not answer, or when the set is full. No nonce is
   * evicted before it expires.
   */
  use(nonce: string, issuedAt: number): Promise<boolean>
}

interface Options {
  readonly limit: number
  readonly now?: () => number
}

/** Creates the set of a single process. */
export function createMemoryUsedNonces({ limit, now = Date.now }: Options): UsedNonces {
  /**
   * When each nonce expires. Insertion order is expiry order, because all are kept equally long.
   */
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
 * Creates the set that all processes share: a sorted set `tw:<name>` of nonces, scored by the time
 * at which they expire. When the connection is lost, Redis may have lost its newest entries. Nonces
 * issued before that count as used, and their wallets have to sign another message. With Sentinels
 * a replica has the nonce before `use` returns true, also when the connection is never lost.
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
      if (outcome !== 'first') return false
      await replicated(redis)
      return true
    },
  }
}

function full(): ServiceError {
  return new ServiceError('unavailable', 'too many logins in five minutes')
}

/** How long a used nonce is kept: its lifetime, and twice the difference allowed between clocks. */
const KEPT_MS = NONCE_MS + 2 * CLOCK_SKEW_MS

/** KEYS: the set. ARGV: nonce, now, kept until, kept for, limit. */
const USE = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 'used' end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[5]) then return 'full' end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 'first'`
