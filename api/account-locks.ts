import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import { orUnavailable, type Redis } from './redis-connection.ts'

/** Lets one thing at a time be done about an account, whichever process does it. */
export interface AccountLocks {
  /** Runs the task when nobody else is at it; rejects with `unavailable` when that takes too long. */
  withLock<T>(account: string, task: (turn: HeldLock) => Promise<T>): Promise<T>
}

/** A turn as who has it sees it. */
export interface HeldLock {
  /** For right before a write: throws `unavailable` when somebody else may be at it by now. */
  requireHeld(): void
}

/**
 * Turns in this process and, with Redis, among all. A turn is held as long as its task runs; one that a process left by ending, or cannot hold as Redis is away or the process
 * stands still, is free after `heldMs`. Two redemptions of one deposit for one account are one entry by their key, whoever has the turn; that it is not redeemed for two
 * accounts, by a check and by hand, is what the turn is for.
 */
export function createAccountLocks(redis: Redis | null, heldMs = 10_000): AccountLocks {
  const last = new Map<string, Promise<unknown>>()
  return {
    withLock(account, task) {
      const before = last.get(account) ?? Promise.resolve()
      const run = () =>
        redis === null ? task(ALONE) : amongProcesses(redis, heldMs, account, task)
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

/** Nobody can take it from the only process. */
const ALONE: HeldLock = { requireHeld() {} }

async function amongProcesses<T>(
  redis: Redis,
  heldMs: number,
  account: string,
  task: (turn: HeldLock) => Promise<T>,
): Promise<T> {
  const key = `tw:turn:${account}`
  const mine = randomUUID()
  /** By the monotonic clock, from when Redis was asked: it may have done it at once. */
  let heldUntil = 0
  for (const until = Date.now() + WAIT_MS; ; await sleep(25)) {
    heldUntil = performance.now() + heldMs
    if ((await orUnavailable(redis.set(key, mine, 'PX', heldMs, 'NX'), BUSY)) === 'OK') break
    if (Date.now() > until) throw unavailable(BUSY)
  }
  const hold = async () => {
    const until = performance.now() + heldMs
    const isMine = (await redis.eval(HOLD, 1, key, mine, heldMs)) === 1
    heldUntil = isMine ? until : 0
  }
  // A task may wait long for the store.
  const holding = setInterval(() => hold().catch(() => {}), heldMs / 4) // the next time, or it ends
  const turn: HeldLock = {
    requireHeld() {
      if (performance.now() >= heldUntil) throw unavailable('the turn was lost')
    },
  }
  try {
    return await task(turn)
  } finally {
    clearInterval(holding)
    await redis.eval(RELEASE, 1, key, mine).catch(() => {}) // else it ends by itself
  }
}

function unavailable(why: string): ServiceError {
  return new ServiceError('unavailable', why, { retriable: true })
}

const WAIT_MS = 12_000
const BUSY = 'the account is being worked on'
const HOLD = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
