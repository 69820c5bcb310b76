import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Account } from '../credits/meter.ts'
import { LatestUses, type LatestUsesDeps } from './latest-uses.ts'

/**
 * When each account last used a key, and when each named key was last used (see `LatestUses`). Uses
 * in other processes may arrive ten seconds late.
 */
export class KeyUses {
  readonly #store: Store
  readonly #accounts: LatestUses<{ readonly at: number }>
  readonly #named: LatestUses<{ readonly at: number }>

  constructor(deps: LatestUsesDeps) {
    this.#store = deps.store
    this.#accounts = new LatestUses(deps, 'key_uses', (wallet, { at }) => ({
      wallet,
      used_at: dateTime(at),
    }))
    this.#named = new LatestUses(deps, 'named_key_uses', (key_sha256, { at }) => ({
      key_sha256,
      used_at: dateTime(at),
    }))
  }

  /** Records that an account used a key. `namedSha256`: hash of that key if it is a named one. */
  mark(account: Account, namedSha256: string | null): void {
    const use = { at: this.#accounts.now() }
    this.#accounts.mark(account, use)
    if (namedSha256 !== null) this.#named.mark(namedSha256, use)
  }

  /** Returns unix milliseconds, or null if no key of the account was ever used. */
  async lastUsed(account: Account): Promise<number | null> {
    const [row] = await this.#store.query<{ at: string }>(
      'SELECT toUnixTimestamp64Milli(max(used_at)) AS at FROM key_uses WHERE wallet = {account:String}',
      { account },
    )
    return Math.max(Number(row?.at ?? 0), this.#accounts.unwritten(account)?.at ?? 0) || null
  }

  /** Returns the last use of each of these named keys that was used, in unix milliseconds. */
  async lastUsedNamed(sha256s: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (sha256s.length === 0) return new Map()
    const rows = await this.#store.query<{ key_sha256: string; at: string }>(
      `SELECT key_sha256, toUnixTimestamp64Milli(max(used_at)) AS at FROM named_key_uses
       WHERE key_sha256 IN {keys:Array(String)} GROUP BY key_sha256`,
      { keys: sha256s },
    )
    const last = new Map(rows.map(({ key_sha256, at }) => [key_sha256, Number(at)]))
    for (const key of sha256s) {
      const at = Math.max(last.get(key) ?? 0, this.#named.unwritten(key)?.at ?? 0)
      if (at > 0) last.set(key, at)
    }
    return last
  }

  start(): void {
    this.#accounts.start()
    this.#named.start()
  }

  /** Stores the key uses that are still in memory. */
  async stop(): Promise<void> {
    await Promise.all([this.#accounts.stop(), this.#named.stop()])
  }
}
