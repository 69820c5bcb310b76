import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { hashApiKey, parseApiKey } from './api-key.ts'

/** Finds API keys: each with what is `Found` of a valid one, for example its account. */
export interface KeyLookUp<Found> {
  /**
   * Returns what was found of the key, or null if the text is not a valid key. Rejects with
   * `unavailable` if the store does not answer, and with the refusals of `options`.
   */
  find(text: string, options?: LookUpOptions): Promise<Found | null>
  /** Marks a key, by its hash, as revoked, even if a look-up of it is running. */
  revoke(keySha256: string): void
  /** Clears the cache: revocations may have been missed. */
  forgetAll(): void
}

/** The gate and the rate budget of a key look-up. A cached key uses neither. */
export interface LookUpOptions {
  /** The rate limit. */
  readonly before?: Promise<void> | undefined
  readonly budget?: FailureBudget | undefined
}

/** A client's budget of invalid credentials. */
export interface FailureBudget {
  /** Throws when the budget is used up. Needs no I/O. */
  require(): void
  /** Counts an invalid credential. Never rejects. */
  count(): Promise<void>
}

/** Options of a key cache. */
export interface KeyCacheOptions {
  readonly ttlMs?: number
  readonly size?: number
  readonly lookUpsAtOnce?: number
  readonly now?: () => number
  /** Whether revocations by other processes arrive; if not, every key is looked up. */
  readonly isTrusted?: () => boolean
}

/**
 * Creates a cache of valid keys by hash. It keeps each key for `ttlMs`, and at most `size` keys;
 * the one looked up longest ago is evicted first. Invalid keys are not cached. Concurrent requests
 * with one key share one look-up.
 *
 * A key that was valid at its last look-up is looked up at once. Unknown keys may be guesses: at
 * most `lookUpsAtOnce` of them are looked up at the same time, and at most `WAITING_EACH` times as
 * many wait.
 */
export function createKeyCache<Found extends string | object>(
  lookUp: (keySha256: string, isKnown: boolean) => Promise<Found | null>,
  options: KeyCacheOptions = {},
): KeyLookUp<Found> {
  const { ttlMs = 5000, size = 10_000, now = Date.now, isTrusted = () => true } = options
  /** Revoked keys, kept for as long as an earlier look-up may still run. */
  const revoked = new Map<string, number>()
  /** Keys that were valid at their last look-up, expired ones included. */
  const known = new LRUCache<string, { readonly key: Found; expires: number }>({ max: size })
  const asking = new Map<string, Promise<Found | null>>()
  const askUnknown = limitLookUps(askAndCount, options.lookUpsAtOnce ?? 4)
  /** Number of times the cache was cleared. */
  let times = 0

  async function ask(hash: string): Promise<Found | null> {
    const before = times
    const key = await lookUp(hash, known.has(hash))
    if (!asking.has(hash) || times !== before) return key
    if (key === null) known.delete(hash)
    else known.set(hash, { key, expires: now() + ttlMs })
    return key
  }

  /** An invalid key is counted before the next look-up starts, which may then be refused. */
  async function askAndCount(hash: string, budget: FailureBudget): Promise<Found | null> {
    const key = await ask(hash)
    if (key === null) await budget.count()
    return key
  }

  return {
    async find(text, { before, budget = NO_BUDGET } = {}) {
      const hash = hashApiKey(text)
      if (revoked.has(hash)) return null
      const found = known.peek(hash)
      if (found !== undefined && found.expires > now() && isTrusted()) return found.key
      if (parseApiKey(text) === null) return null
      await before
      let lookUp = asking.get(hash)
      if (lookUp === undefined) {
        const begin = found === undefined ? askUnknown : askAndCount
        lookUp = begin(hash, budget).finally(() => asking.delete(hash))
        asking.set(hash, lookUp)
      }
      const key = await lookUp
      return revoked.has(hash) ? null : key
    },
    revoke(keySha256) {
      known.delete(keySha256)
      asking.delete(keySha256) // a running look-up may have read the state before the revocation
      for (const [hash, at] of revoked) if (now() - at > REVOKED_MS) revoked.delete(hash)
      revoked.set(keySha256, now())
    },
    forgetAll() {
      times++
      for (const key of known.values()) key.expires = 0
      asking.clear()
    },
  }
}

/** Returns `ask` with at most `atOnce` calls at a time, and a bounded queue of waiting ones. */
function limitLookUps<Found>(
  ask: (hash: string, budget: FailureBudget) => Promise<Found | null>,
  atOnce: number,
): typeof ask {
  const limit = pLimit(atOnce)
  return async (hash, budget) => {
    budget.require()
    if (limit.pendingCount >= WAITING_EACH * atOnce)
      throw new ServiceError('unavailable', 'too many look-ups of unknown keys are waiting')
    return limit(() => {
      budget.require() // earlier look-ups may have used it up
      return ask(hash, budget)
    })
  }
}

const REVOKED_MS = 60_000
const WAITING_EACH = 64
const NO_BUDGET: FailureBudget = { require() {}, count: async () => {} }
