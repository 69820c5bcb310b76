import { LRUCache } from 'lru-cache'
import { inTime } from '../../pipeline/store/timely-store.ts'
import type { AccountChannel } from '../channel/account-channel.ts'
import { ApiError } from '../errors.ts'
import type { Accounts } from './accounts.ts'

/**
 * Whether accounts are disabled (rule E3), cached for ten seconds. The channel announces changes,
 * which clear the cache in every process. While the channel is down, each use reads the store.
 */
export class AccountAccess {
  readonly #deps: AccountAccessDeps
  readonly #known = new LRUCache<string, { readonly isDisabled: boolean; readonly until: number }>({
    max: MOST_KNOWN,
  })
  /** Number of times the cache was cleared. */
  #times = 0

  constructor(deps: AccountAccessDeps) {
    this.#deps = deps
    const forget = () => {
      this.#times++
      this.#known.clear()
    }
    deps.channel.listen({
      onAccessChanged: forget,
      onBack: forget, // changes since the disconnect were missed
      onRotated() {},
      onKeyDeleted() {},
      onSuperseded() {},
      onLoggedOut() {},
      onLoggedOutEverywhere() {},
    })
  }

  /** Rejects with `account_disabled`, and with `unavailable` when the store does not answer. */
  async requireEnabled(account: string): Promise<void> {
    if (await this.#isDisabled(account)) throw new ApiError('account_disabled')
  }

  /**
   * Call it before a read of the store that also shows whether an account is disabled. The returned
   * function caches the result and returns true, unless the cache was cleared meanwhile.
   */
  beginRead(): (account: string, isDisabled: boolean) => boolean {
    const times = this.#times
    const until = this.#deps.now() + KNOWN_MS
    return (account, isDisabled) => {
      if (times !== this.#times) return false
      this.#known.set(account, { isDisabled, until })
      return true
    }
  }

  async #isDisabled(account: string): Promise<boolean> {
    const { accounts, channel, readMs, now } = this.#deps
    const known = this.#known.get(account)
    if (known !== undefined && known.until > now() && channel.isUp) return known.isDisabled
    const remember = this.beginRead()
    const isDisabled = await inTime(accounts.isDisabled(account), readMs)
    // Where the cache was cleared, it may have changed since.
    return remember(account, isDisabled) ? isDisabled : this.#isDisabled(account)
  }
}

/** Dependencies of the check of accounts. */
export interface AccountAccessDeps {
  readonly accounts: Pick<Accounts, 'isDisabled'>
  readonly channel: Pick<AccountChannel, 'isUp' | 'listen'>
  /** Timeout of a read, in milliseconds. */
  readonly readMs: number
  readonly now: () => number
}

/** Longer than a key is cached, so that the look-up of the key renews it. */
const KNOWN_MS = 10_000
const MOST_KNOWN = 10_000
