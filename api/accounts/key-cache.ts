import { hashApiKey, parseApiKey } from './api-key.ts'

/** Finds the account of an API key. */
export interface KeyLookUp {
  /**
   * The account of the key; null when the text is no key, or one that is not valid. Rejects with `unavailable` when that cannot be told, and as `before` does: a key that has
   * to be looked up waits for that.
   */
  accountOf(text: string, before?: Promise<void>): Promise<string | null>
  /** Takes a key, by its hash, as revoked from now on, whatever is being looked up. */
  revoke(keySha256: string): void
  /** Has every key looked up anew: what was told until now of revocations may not have come. */
  forgetAll(): void
}

/**
 * Look-ups of keys, remembered for `ttlMs` and at most `size` of them, the longest known dropped first. Only valid keys are remembered, by their hash; one look-up a key
 * at a time, whoever asks.
 */
export function createKeyCache(
  lookUp: (keySha256: string) => Promise<string | null>,
  options: {
    readonly ttlMs?: number
    readonly size?: number
    readonly now?: () => number
    /** Whether revocations are heard of; while they are not, every key is looked up. */
    readonly isTrusted?: () => boolean
  } = {},
): KeyLookUp {
  const { ttlMs = 5000, size = 10_000, now = Date.now, isTrusted = () => true } = options
  /** For as long as a look-up of before may still be under way. */
  const revoked = new Map<string, number>()
  const known = new Map<string, { account: string; expires: number }>()
  const asking = new Map<string, Promise<string | null>>()
  /** How often all was forgotten. */
  let times = 0

  async function ask(hash: string): Promise<string | null> {
    const before = times
    const account = await lookUp(hash)
    if (account === null || !asking.has(hash) || times !== before) return account
    const [oldest] = known.keys()
    if (known.size >= size && oldest !== undefined) known.delete(oldest)
    known.delete(hash)
    known.set(hash, { account, expires: now() + ttlMs })
    return account
  }

  return {
    async accountOf(text, before) {
      const hash = hashApiKey(text)
      const found = known.get(hash)
      if (revoked.has(hash)) return null
      if (found !== undefined && found.expires > now() && isTrusted()) return found.account
      if (parseApiKey(text) === null) return null
      await before
      const asked = asking.get(hash) ?? ask(hash).finally(() => asking.delete(hash))
      asking.set(hash, asked)
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
      known.clear()
      asking.clear()
    },
  }
}

const REVOKED_MS = 60_000
