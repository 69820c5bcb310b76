import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import { orUnavailable, type Redis, replicated } from './redis-connection.ts'

/** Locks by account, within one process or among all processes. */
export interface AccountLocks {
  /**
   * Runs the task while holding the account's lock. With Redis, rejects with `unavailable` after
   * 12 s.
   */
  withLock<T>(account: string, task: (lock: HeldLock) => Promise<T>): Promise<T>
}

/** A lock that this process holds. */
export interface HeldLock {
  /** Call right before a write. Throws `unavailable` if another process may hold the lock now. */
  requireHeld(): void
}

/**
 * Creates the locks: in this process and, with Redis, among all. The holder renews its lock while
 * the task runs. A lock expires `heldMs` after the last renewal, for example when its process ended
 * or Redis is down.
 *
 * The locks prevent a deposit from being redeemed for two accounts, by a check and by an operator.
 * Two redemptions for one account need no lock, because they have the same idempotency key.
 */
export function createAccountLocks(redis: Redis | null, heldMs = 10_000): AccountLocks {
  const last = new Map<string, Promise<unknown>>()
  return {
    withLock(account, task) {
      const before = last.get(account) ?? Promise.resolve()
      const run = () =>
        redis === null ? task(ALONE) : amongProcesses(redis, heldMs, account, task)
      const done = before.catch(() => {}).then(run)
      last.set(account, done)
      const forget = () => {
        if (last.get(account) === done) last.delete(account)
      }
      done.then(forget, forget)
      return done
    },
  }
}

/** The lock of a single process, which cannot expire. */
const ALONE: HeldLock = { requireHeld() {} }

async function amongProcesses<T>(
  redis: Redis,
  heldMs: number,
  account: string,
  task: (lock: HeldLock) => Promise<T>,
): Promise<T> {
  const key = `tw:turn:${account}`
  const token = randomUUID()
  /**
   * Monotonic milliseconds, counted from before the request, because Redis may execute it at once.
   */
  let heldUntil = 0
  for (const until = performance.now() + WAIT_MS; ; await sleep(25)) {
    heldUntil = performance.now() + heldMs
    if ((await orUnavailable(redis.set(key, token, 'PX', heldMs, 'NX'), BUSY)) === 'OK') break
    if (performance.now() > until) throw unavailable(BUSY)
  }
  const renew = async () => {
    const until = performance.now() + heldMs
    const isMine = (await redis.eval(RENEW, 1, key, token, heldMs)) === 1
    if (isMine) await replicated(redis)
    heldUntil = isMine ? until : 0
  }
  // A task may wait for the store longer than the lock lasts. If a renewal fails, the next one
  // renews the lock, or it expires.
  const renewing = setInterval(() => renew().catch(() => {}), heldMs / 4)
  const lock: HeldLock = {
    requireHeld() {
      if (performance.now() >= heldUntil) throw unavailable('the lock of the account was lost')
    },
  }
  try {
    await replicated(redis) // else another process could take the lock after a failover
    return await task(lock)
  } finally {
    clearInterval(renewing)
    await redis.eval(RELEASE, 1, key, token).catch(() => {}) // if this fails, it expires
  }
}

function unavailable(why: string): ServiceError {
  return new ServiceError('unavailable', why)
}

const WAIT_MS = 12_000
const BUSY = 'another request is changing this account'
const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
