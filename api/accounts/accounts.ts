import type { Address } from '../../pipeline/domain/address.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Ledger } from '../credits/ledger.ts'
import { type ApiKey, hashApiKey, newApiKey } from './api-key.ts'

/**
 * Accounts of customers, named by the wallet they connected, and their API keys. Every method rejects with a retriable ServiceError `unavailable`
 * when the store does not answer.
 */
export class Accounts {
  readonly #store: Store
  readonly #ledger: Ledger
  readonly #now: () => number

  constructor(deps: {
    readonly store: Store
    readonly ledger: Ledger
    readonly now?: () => number
  }) {
    this.#store = deps.store
    this.#ledger = deps.ledger
    this.#now = deps.now ?? Date.now
  }

  /** Makes an account with its key and its first credits; the raw key is known to the caller alone. Rejects with `account_exists`. */
  async create(wallet: Address, credits: number): Promise<{ apiKey: ApiKey; left: number }> {
    if (await this.exists(wallet))
      throw new ServiceError('account_exists', 'this wallet has an account already')
    const apiKey = newApiKey()
    const now = this.#now()
    await this.#store.insert('api_keys', [
      {
        key_sha256: hashApiKey(apiKey),
        wallet,
        last4: apiKey.slice(-4),
        created_at: dateTime(now),
        revoked_at: null,
        version: now,
      },
    ])
    const entry = { account: wallet, key: 'created', credits, cause: 'grant', reason: '' } as const
    const left = credits === 0 ? 0 : await this.#ledger.add(entry)
    // Last: only now there is an account. What a process leaves that ends before is overwritten by the next attempt or never used.
    await this.#store.insert('accounts', [{ wallet, created_at: dateTime(now), version: now }])
    return { apiKey, left }
  }

  async exists(wallet: Address): Promise<boolean> {
    const rows = await this.#store.query(
      'SELECT 1 FROM accounts WHERE wallet = {wallet:String} LIMIT 1',
      { wallet },
    )
    return rows.length > 0
  }

  /** Adds credits (or takes some, below zero) by an operator's decision; gives what is left. Rejects with `account_not_found`. */
  async adjust(wallet: Address, credits: number, reason: string, key: string): Promise<number> {
    if (!(await this.exists(wallet)))
      throw new ServiceError('account_not_found', 'this wallet has no account')
    return this.#ledger.add({ account: wallet, key, credits, cause: 'adjustment', reason })
  }

  /** Accounts of which a key was revoked since a time (unix milliseconds), and when. */
  async revokedSince(unixMs: number): Promise<{ account: string; at: number }[]> {
    const rows = await this.#store.query<{ wallet: string; at: string }>(
      `SELECT wallet, toUnixTimestamp64Milli(max(revoked_at)) AS at FROM api_keys FINAL
       WHERE revoked_at >= fromUnixTimestamp64Milli({since:Int64}) GROUP BY wallet LIMIT 100000`,
      { since: unixMs },
    )
    return rows.map(({ wallet, at }) => ({ account: wallet, at: Number(at) }))
  }

  /** The account of a valid key, by its hash; null when there is none or it was revoked. */
  async accountOfKey(keySha256: string): Promise<string | null> {
    const [row] = await this.#store.query<{ wallet: string }>(
      'SELECT wallet FROM api_keys FINAL WHERE key_sha256 = {key:String} AND revoked_at IS NULL LIMIT 1',
      { key: keySha256 },
    )
    return row?.wallet ?? null
  }
}

/** Unix milliseconds as ClickHouse reads a DateTime64(3, 'UTC'). */
function dateTime(unixMs: number): string {
  return new Date(unixMs).toISOString().replace('T', ' ').replace('Z', '')
}
