import { hashApiKey, parseApiKey } from './api-key.ts'

/** Finds the account of an API key. */
export interface KeyLookUp {
  /** The account of the key; null when the text is no key, or one that is not valid. Rejects with `unavailable` when that cannot be told. */
  accountOf(text: string): Promise<string | null>
  /** Forgets a key, by its hash, that was just revoked here. */
  forget(keySha256: string): void
}

/**
 * Look-ups of keys, remembered for `ttlMs` and at most `size` of them, the longest known dropped first. Only valid keys are remembered, by their hash; one look-up a key
 * at a time, whoever asks.
 */
export function createKeyCache(
  lookUp: (keySha256: string) => Promise<string | null>,
  options: { readonly ttlMs?: number; readonly size?: number; readonly now?: () => number } = {},
): KeyLookUp {
  const { ttlMs = 5000, size = 10_000, now = Date.now } = options
  const known = new Map<string, { account: string; expires: number }>()
  const asking = new Map<string, Promise<string | null>>()

  async function ask(hash: string): Promise<string | null> {
    const account = await lookUp(hash)
    if (account === null || !asking.has(hash)) return account
    const [oldest] = known.keys()
    if (known.size >= size && oldest !== undefined) known.delete(oldest)
    known.delete(hash)
    known.set(hash, { account, expires: now() + ttlMs })
    return account
  }

  return {
    async accountOf(text) {
      const key = parseApiKey(text)
      if (key === null) return null
      const hash = hashApiKey(key)
      const found = known.get(hash)
      if (found !== undefined && found.expires > now()) return found.account
      const asked = asking.get(hash) ?? ask(hash).finally(() => asking.delete(hash))
      asking.set(hash, asked)
      return asked
    },
    forget(keySha256) {
      known.delete(keySha256)
      asking.delete(keySha256) // what is being asked now may be the answer of before
    },
  }
}
