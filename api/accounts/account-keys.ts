import { LRUCache } from 'lru-cache'
import { inTime } from '../../pipeline/store/timely-store.ts'
import type { AccountChannel } from '../channel/account-channel.ts'
import type { AccountAccess } from './account-access.ts'
import type { AccountEvents } from './account-events.ts'
import type { Accounts, StoredKey } from './accounts.ts'
import { hashApiKey } from './api-key.ts'
import { createKeyCache, type KeyLookUp } from './key-cache.ts'
import type { KeyUses } from './key-uses.ts'

/** Validates API keys for the middleware. */
export interface AccountKeys {
  /**
   * Finds a key through the cache, and records its use. Rejects with
   * `account_disabled` if the account is disabled.
   */
  readonly keys: Pick<KeyLookUp<StoredKey>, 'find'>
  /** Counts a refused key for the account that it used to belong to, if it was replaced. */
  onKeyRefused(text: string, network: string): void
}

/**
 * Connects the key cache to the accounts and to the channel on which processes announce revoked
 * keys. A look-up in the store rejects with `unavailable` after `lookUpMs`.
 */
export function createAccountKeys(deps: {
  readonly accounts: Pick<Accounts, 'findKey'>
  readonly channel: Pick<AccountChannel, 'isUp' | 'listen'>
  readonly access: Pick<AccountAccess, 'requireEnabled' | 'beginRead'>
  readonly keyUses: Pick<KeyUses, 'mark'>
  readonly events: Pick<AccountEvents, 'count'>
  readonly lookUpsAtOnce: number
  readonly lookUpMs: number
  readonly now: () => number
}): AccountKeys {
  const { accounts, channel, access, keyUses, events, lookUpMs, now } = deps
  /** Accounts of replaced, deleted and expired keys, by the hash of the key. */
  const replaced = new LRUCache<string, string>({ max: MOST_REPLACED_KEYS })
  const lookUp = (hash: string, isKnown: boolean) => {
    const onReplaced = (account: string) => void replaced.set(hash, account)
    return accounts.findKey(hash, onReplaced, access.beginRead(), isKnown)
  }
  const cache = createKeyCache<StoredKey>(
    (hash, isKnown) => inTime(lookUp(hash, isKnown), lookUpMs),
    {
      lookUpsAtOnce: deps.lookUpsAtOnce,
      now,
      // While the channel is down, this process does not learn of keys that other processes revoke.
      isTrusted: () => channel.isUp,
    },
  )
  const revoke = (account: string, keySha256: string) => {
    cache.revoke(keySha256)
    replaced.set(keySha256, account)
  }
  channel.listen({
    onRotated: revoke,
    onKeyDeleted: revoke,
    onAccessChanged() {},
    onSuperseded() {},
    onLoggedOut() {},
    onLoggedOutEverywhere() {},
    // After a disconnect, the cache and running look-ups may hold keys revoked meanwhile.
    onBack: () => cache.forgetAll(),
  })

  return {
    keys: {
      async find(text, options) {
        const found = await cache.find(text, options)
        if (found === null) return null
        const { account, named } = found
        if (named !== null && named.expiresAt !== null && named.expiresAt <= now()) {
          replaced.set(named.sha256, account)
          return null
        }
        await access.requireEnabled(account)
        keyUses.mark(account, named?.sha256 ?? null)
        return found
      },
    },
    onKeyRefused(text, network) {
      const account = replaced.peek(hashApiKey(text))
      if (account !== undefined) events.count(account, 'key_refused', network)
    },
  }
}

/** Replaced keys that a process remembers. The one added first is evicted. */
const MOST_REPLACED_KEYS = 10_000
