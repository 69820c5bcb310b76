import pLimit from 'p-limit'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { hashApiKey, parseApiKey } from './api-key.ts'

/** Finds the account of an API key. */
export interface KeyLookUp {
  /**
   * Returns the account of the key, or null when the text is no key or one that is not valid.
   * Rejects with `unavailable` when that cannot be told now, and as `options` say.
   */
  accountOf(text: string, options?: LookUpOptions): Promise<string | null>
  /** Takes a key, by its hash, as revoked from now on, whatever is being looked up. */
  revoke(keySha256: string): void
  /** Has every key looked up again: revocations may have been missed. */
  forgetAll(): void
}

/** What a look-up waits for, and what it is counted by. A key in the cache needs neither. */
export interface LookUpOptions {
  /** The rate limit. */
  readonly before?: Promise<void> | undefined
  readonly budget?: FailureBudget | undefined
}

/** How many credentials that turn out to be invalid a client may send. */
export interface FailureBudget {
  /** Throws when none is left. Asks nobody. */
  require(): void
  /** Counts one. Never rejects. */
  count(): Promise<void>
}

/**
 * A cache of valid keys, by their hash: each for `ttlMs`, at most `size` of them, the one whose
 * look-up is the longest ago evicted first. Invalid keys are not cached. A key is looked up once at
 * a time, however many ask.
 *
 * A key that was valid at its last look-up is looked up again at once. Unknown keys are what
 * strangers send: at most `lookUpsAtOnce` of them are looked up at the same time, and at most
 * `WAITING_EACH` times as many wait for that.
 */
export function createKeyCache(
  lookUp: (keySha256: string) => Promise<string | null>,
  options: {
    readonly ttlMs?: number
    readonly size?: number
    readonly lookUpsAtOnce?: number
    readonly now?: () => number
    /** Whether revocations are heard of; while they are not, every key is looked up. */
    readonly isTrusted?: () => boolean
  } = {},
): KeyLookUp {
  const { ttlMs = 5000, size = 10_000, now = Date.now, isTrusted = () => true } = options
  const { lookUpsAtOnce = 4 } = options
  /** For as long as a look-up of before may still be under way. */
  const revoked = new Map<string, number>()
  /** Keys that were valid when they were looked up last, also those whose time is over. */
  const known = new Map<string, { account: string; expires: number }>()
  const asking = new Map<string, Promise<string | null>>()
  const unknownKeys = pLimit(lookUpsAtOnce)
  /** How often all was forgotten. */
  let times = 0

  async function ask(hash: string): Promise<string | null> {
    const before = times
    const account = await lookUp(hash)
    if (!asking.has(hash) || times !== before) return account
    known.delete(hash)
    if (account === null) return null
    const [oldest] = known.size >= size ? known.keys() : []
    if (oldest !== undefined) known.delete(oldest)
    known.set(hash, { account, expires: now() + ttlMs })
    return account
  }

  /** An invalid key is counted before the next one is looked up, which may then be refused. */
  async function askAndCount(hash: string, budget: FailureBudget): Promise<string | null> {
    const account = await ask(hash)
    if (account === null) await budget.count()
    return account
  }

  async function askUnknown(hash: string, budget: FailureBudget): Promise<string | null> {
    budget.require()
    if (unknownKeys.pendingCount >= WAITING_EACH * lookUpsAtOnce)
      throw new ServiceError('unavailable', 'too many unknown keys are to be looked up', {
        retriable: true,
      })
    return unknownKeys(() => {
      budget.require() // those before it in the queue may have used it up
      return askAndCount(hash, budget)
    })
  }

  return {
    async accountOf(text, { before, budget = NO_BUDGET } = {}) {
      const hash = hashApiKey(text)
      if (revoked.has(hash)) return null
      const found = known.get(hash)
      if (found !== undefined && found.expires > now() && isTrusted()) return found.account
      if (parseApiKey(text) === null) return null
      await before
      let asked = asking.get(hash)
      if (asked === undefined) {
        const begin = found === undefined ? askUnknown : askAndCount
        asked = begin(hash, budget).finally(() => asking.delete(hash))
        asking.set(hash, asked)
      }
      const account = await asked
      return revoked.has(hash) ? null : account
    },
    revoke(keySha256) {
      known.delete(keySha256)
      asking.delete(keySha256) // what is being asked now may be the answer of before
      for (const [hash, at] of revoked) if (now() - at > REVOKED_MS) revoked.delete(hash)
      revoked.set(keySha256, now())
    },
    forgetAll() {
      times++
      for (const [hash, { account }] of known) known.set(hash, { account, expires: 0 })
      asking.clear()
    },
  }
}

const REVOKED_MS = 60_000
const WAITING_EACH = 64
const NO_BUDGET: FailureBudget = { require() {}, count: async () => {} }
