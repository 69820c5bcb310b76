import { randomUUID } from 'node:crypto'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import type { AccountLocks } from '../account-locks.ts'
import { type ApiKey, hashApiKey, newApiKey } from './api-key.ts'

/** What a named key may be used for: REST calls of the product, or the feed (rule L15). */
export const KEY_SCOPES = ['read', 'feed'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** How many named keys an account may have. */
export const MOST_NAMED_KEYS = 20

/** What the customer chooses for a named key. */
export interface NamedKeyTerms {
  readonly name: string
  /** At least one. */
  readonly scopes: readonly KeyScope[]
  /** The clients that may use it, in CIDR notation; empty: all may. */
  readonly allowedAddresses: readonly string[]
  /** From then on it is refused, in unix milliseconds; null: never. */
  readonly expiresAt: number | null
}

/** An API key beside the own key of an account. Times in unix milliseconds. */
export interface NamedKey extends NamedKeyTerms {
  readonly id: string
  readonly sha256: string
  readonly last4: string
  readonly createdAt: number
}

/**
 * The named API keys of accounts. A key that was deleted keeps its row until another key takes its
 * place, so that a deletion can be announced again. Every method rejects with a retriable
 * ServiceError `unavailable` when the store does not answer.
 */
export class NamedKeys {
  readonly #store: Store
  readonly #locks: AccountLocks
  readonly #now: () => number

  constructor(deps: {
    readonly store: Store
    readonly locks: AccountLocks
    readonly now: () => number
  }) {
    this.#store = deps.store
    this.#locks = deps.locks
    this.#now = deps.now
  }

  /** Returns the keys of an account that were not deleted, oldest first; expired ones too. */
  async list(wallet: string): Promise<NamedKey[]> {
    return (await this.#read(wallet)).filter(({ deletedAt }) => deletedAt === null)
  }

  /**
   * Creates a key. Returns the raw key, which is not stored, or null if the account has
   * `MOST_NAMED_KEYS`, expired ones included.
   */
  create(
    wallet: string,
    terms: NamedKeyTerms,
  ): Promise<{ readonly apiKey: ApiKey; readonly key: NamedKey } | null> {
    return this.#locks.withLock(`named-keys:${wallet}`, async (lock) => {
      const stored = await this.#read(wallet)
      const taken = new Set(stored.flatMap((key) => (key.deletedAt === null ? [key.place] : [])))
      const place = PLACES.find((one) => !taken.has(one))
      if (place === undefined) return null
      const apiKey = newApiKey()
      const now = this.#now()
      const key = {
        ...terms,
        id: randomUUID(),
        sha256: hashApiKey(apiKey),
        last4: apiKey.slice(-4),
        createdAt: now,
      }
      const before = stored.find((one) => one.place === place)?.version ?? 0
      const version = Math.max(now, before + 1)
      const created_at = dateTime(now)
      await this.#store.insert('api_keys', [{ key_sha256: key.sha256, wallet, created_at }])
      lock.requireHeld()
      await this.#store.insert('named_keys', [
        rowOf(wallet, { ...key, place, version, deletedAt: null }),
      ])
      return { apiKey, key }
    })
  }

  /**
   * Deletes a key, by id; idempotent while no other key has taken its place. From then on the store
   * refuses the key; the caller announces it to the caches. Returns the key, and whether this call
   * deleted it, or null if the account has no such key.
   */
  delete(
    wallet: string,
    id: string,
  ): Promise<{ readonly key: NamedKey; readonly isNew: boolean } | null> {
    return this.#locks.withLock(`named-keys:${wallet}`, async (lock) => {
      const key = (await this.#read(wallet)).find((one) => one.id === id)
      if (key === undefined || key.deletedAt !== null) return key ? { key, isNew: false } : null
      const now = this.#now()
      const version = Math.max(now, key.version + 1)
      lock.requireHeld()
      await this.#store.insert('named_keys', [rowOf(wallet, { ...key, version, deletedAt: now })])
      return { key, isNew: true }
    })
  }

  /** Returns those of these keys of accounts, by hash, that were not deleted; expired ones too. */
  async find(
    wallets: readonly string[],
    sha256s: readonly string[],
  ): Promise<ReadonlyMap<string, NamedKey>> {
    const rows = await this.#store.query<NamedKeyRow>(
      `SELECT ${COLUMNS} FROM named_keys FINAL
       WHERE wallet IN {wallets:Array(String)} AND key_sha256 IN {keys:Array(String)}
         AND deleted_at IS NULL LIMIT 10000`,
      { wallets, keys: sha256s },
    )
    return new Map(rows.map((row) => [row.key_sha256, keyOf(row)]))
  }

  async #read(wallet: string): Promise<StoredKey[]> {
    const rows = await this.#store.query<NamedKeyRow>(
      `SELECT ${COLUMNS} FROM named_keys FINAL WHERE wallet = {wallet:String}
       ORDER BY created_at, place LIMIT 100`,
      { wallet },
    )
    return rows.map(keyOf)
  }
}

const PLACES = Array.from({ length: MOST_NAMED_KEYS }, (_, at) => at + 1)

/** A key with its row. */
interface StoredKey extends NamedKey {
  readonly place: number
  readonly deletedAt: number | null
  readonly version: number
}

const COLUMNS = `place, id, key_sha256, key_last4, name, scopes, allowed_addresses,
  toUnixTimestamp64Milli(created_at) AS created, toUnixTimestamp64Milli(expires_at) AS expires,
  toUnixTimestamp64Milli(deleted_at) AS deleted, version`

interface NamedKeyRow {
  readonly place: number
  readonly id: string
  readonly key_sha256: string
  readonly key_last4: string
  readonly name: string
  readonly scopes: readonly KeyScope[]
  readonly allowed_addresses: readonly string[]
  readonly created: string
  readonly expires: string | null
  readonly deleted: string | null
  readonly version: string
}

function keyOf(row: NamedKeyRow): StoredKey {
  return {
    id: row.id,
    sha256: row.key_sha256,
    last4: row.key_last4,
    name: row.name,
    scopes: row.scopes,
    allowedAddresses: row.allowed_addresses,
    createdAt: Number(row.created),
    expiresAt: row.expires === null ? null : Number(row.expires),
    place: Number(row.place),
    deletedAt: row.deleted === null ? null : Number(row.deleted),
    version: Number(row.version),
  }
}

function rowOf(wallet: string, key: StoredKey): Row {
  return {
    wallet,
    place: key.place,
    id: key.id,
    key_sha256: key.sha256,
    key_last4: key.last4,
    name: key.name,
    scopes: [...key.scopes],
    allowed_addresses: [...key.allowedAddresses],
    created_at: dateTime(key.createdAt),
    expires_at: key.expiresAt === null ? null : dateTime(key.expiresAt),
    deleted_at: key.deletedAt === null ? null : dateTime(key.deletedAt),
    version: key.version,
  }
}
