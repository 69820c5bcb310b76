import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import { asked, type Redis } from './redis-connection.ts'

/** Lets one thing at a time be done about an account, whichever process does it. */
export interface Turns {
  /** Runs the task when nobody else is at it; rejects with `unavailable` when that takes too long. */
  take<T>(account: string, task: () => Promise<T>): Promise<T>
}

/**
 * Turns in this process and, with Redis, among all. Nothing depends on them but what a caller is told: money is safe by idempotency keys, also from a process that
 * comes back after its turn was given to another.
 */
export function createTurns(redis: Redis | null): Turns {
  const last = new Map<string, Promise<unknown>>()
  return {
    take(account, task) {
      const before = last.get(account) ?? Promise.resolve()
      const run = redis === null ? task : () => amongProcesses(redis, account, task)
      const turn = before.catch(() => {}).then(run)
      last.set(account, turn)
      const forget = () => {
        if (last.get(account) === turn) last.delete(account)
      }
      turn.then(forget, forget)
      return turn
    },
  }
}

async function amongProcesses<T>(
  redis: Redis,
  account: string,
  task: () => Promise<T>,
): Promise<T> {
  const key = `tw:turn:${account}`
  const mine = randomUUID()
  for (const until = Date.now() + WAIT_MS; ; await sleep(25)) {
    if ((await asked(redis.set(key, mine, 'PX', HELD_MS, 'NX'), BUSY)) === 'OK') break
    if (Date.now() > until) throw new ServiceError('unavailable', BUSY, { retriable: true })
  }
  try {
    return await task()
  } finally {
    await redis.eval(RELEASE, 1, key, mine).catch(() => {}) // else it ends by itself
  }
}

/** What a process that ended in its turn keeps others waiting. */
const HELD_MS = 10_000
const WAIT_MS = 12_000
const BUSY = 'the account is being worked on'
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
