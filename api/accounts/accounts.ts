import { timingSafeEqual } from 'node:crypto'
import type { Address } from '../../pipeline/domain/address.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { type AccountLocks, createAccountLocks, type HeldLock } from '../account-locks.ts'
import type { Ledger } from '../credits/ledger.ts'
import { readEntryCredits } from '../credits/ledger-entries.ts'
import { type ApiKey, hashApiKey, newApiKey } from './api-key.ts'

/** Subquery: the wallets with an account. */
export const ACCOUNT_WALLETS = 'SELECT DISTINCT wallet FROM accounts'

/** State of an account's API key, as its owner sees it. Times are unix milliseconds. */
export interface KeyState {
  readonly last4: string
  /** When the first key was created. */
  readonly createdAt: number
  /** When the key was last rotated; null before the first rotation. */
  readonly rotatedAt: number | null
}

/**
 * Accounts of customers, identified by wallet, and their API keys: one per account, named by the
 * newest row of `accounts`. Every method rejects with a retriable ServiceError `unavailable` when
 * the store does not answer.
 */
export class Accounts {
  readonly #store: Store
  readonly #ledger: Ledger
  readonly #turns: AccountLocks
  readonly #now: () => number
  /** Accounts known to exist; none is ever deleted. */
  readonly #ensured = new Set<Address>()

  /** `turns`: locks for changing a key; default: locks of this process. */
  constructor(deps: {
    readonly store: Store
    readonly ledger: Ledger
    readonly turns?: AccountLocks
    readonly now?: () => number
  }) {
    this.#store = deps.store
    this.#ledger = deps.ledger
    this.#turns = deps.turns ?? createAccountLocks(null)
    this.#now = deps.now ?? Date.now
  }

  /**
   * Creates an account with its key and first credits, and returns the raw key, which is not
   * stored. Rejects with `account_exists`.
   */
  create(wallet: Address, credits: number): Promise<{ apiKey: ApiKey; left: number }> {
    return this.#inTurn(wallet, async (turn) => {
      if ((await this.#read(wallet)) !== null)
        throw new ServiceError('account_exists', 'this wallet has an account already')
      const entry = { account: wallet, key: 'created', credits, cause: 'grant' } as const
      const left = credits === 0 ? 0 : await this.#ledger.add({ ...entry, reason: '' })
      // Last: only now there is an account. What a process leaves that ends before is used by the
      // next attempt or never.
      const { apiKey } = await this.#putKey(wallet, null, turn)
      return { apiKey, left }
    })
  }

  /** Creates the account of a wallet if it has none, without a key or credits (rule E3). */
  async ensure(wallet: Address): Promise<void> {
    if (this.#ensured.has(wallet)) return
    if (!(await this.exists(wallet))) {
      // Version 0: whatever else makes or changes the account at the same time wins.
      const created_at = dateTime(this.#now())
      await this.#store.insert('accounts', [{ wallet, created_at, version: 0 }])
    }
    if (this.#ensured.size >= MOST_ENSURED) this.#ensured.clear()
    this.#ensured.add(wallet)
  }

  async exists(wallet: Address): Promise<boolean> {
    return (await this.#read(wallet)) !== null
  }

  /**
   * Returns the key of a wallet's account, and creates account and key if missing. `apiKey` is the
   * raw key for the caller that created it, and null for all later ones.
   */
  async openKey(wallet: Address): Promise<{ apiKey: ApiKey | null; key: KeyState }> {
    const known = stateOf(await this.#read(wallet))
    if (known !== null) return { apiKey: null, key: known }
    return this.#inTurn(wallet, async (turn) => {
      const account = await this.#read(wallet)
      const key = stateOf(account)
      return key === null ? this.#putKey(wallet, account, turn) : { apiKey: null, key }
    })
  }

  /**
   * Replaces the key and returns the hash of the old one (null if there was none). The store
   * refuses the old key from then on; caches must be told.
   */
  rotateKey(
    wallet: Address,
  ): Promise<{ apiKey: ApiKey; key: KeyState; revokedSha256: string | null }> {
    return this.#inTurn(wallet, async (turn) => {
      const account = await this.#read(wallet)
      const put = await this.#putKey(wallet, account, turn)
      return { ...put, revokedSha256: account?.key_sha256 || null }
    })
  }

  /**
   * Adds credits by an operator's decision (or subtracts, if negative), once per key. Returns the
   * credits left, or null if the entry is written but the meter, which does not answer, learns of
   * it later. Rejects with `account_not_found`, and with `invalid_argument` for a key used with
   * another sum or for more credits than are left. Credits that the account spends between check
   * and entry are not considered. Subtracting needs the meter.
   */
  async adjust(
    wallet: Address,
    credits: number,
    reason: string,
    key: string,
  ): Promise<number | null> {
    if (!(await this.exists(wallet)))
      throw new ServiceError('account_not_found', 'this wallet has no account')
    const done = await readEntryCredits(this.#store, wallet, key)
    if (done !== null && done !== credits)
      throw new ServiceError('invalid_argument', `--key: was used for ${done} credits`)
    const append = () =>
      this.#ledger.append(wallet, [{ key, credits, cause: 'adjustment', reason }])
    if (done === null && credits >= 0) await append()
    if (done === null && credits < 0)
      await this.#turns.withLock(`adjust:${wallet}`, async (turn) => {
        await this.#requireLeft(wallet, -credits)
        turn.requireHeld()
        await append()
      })
    return this.#ledger.tell(wallet).catch(() => null)
  }

  /** Returns accounts whose key was rotated since a time (unix milliseconds), and when last. */
  async revokedSince(unixMs: number): Promise<{ account: string; at: number }[]> {
    const rows = await this.#store.query<{ wallet: string; at: string }>(
      `SELECT wallet, toUnixTimestamp64Milli(assumeNotNull(key_rotated_at)) AS at FROM accounts FINAL
       WHERE key_rotated_at >= fromUnixTimestamp64Milli({since:Int64}) LIMIT 100000`,
      { since: unixMs },
    )
    return rows.map(({ wallet, at }) => ({ account: wallet, at: Number(at) }))
  }

  /**
   * Returns the account of a valid key, by hash; null if unknown or replaced. `onReplaced` gets the
   * account of a replaced key.
   */
  async accountOfKey(
    keySha256: string,
    onReplaced: (wallet: string) => void = () => {},
  ): Promise<string | null> {
    const [row] = await this.#store.query<{ wallet: string; key_sha256: string }>(
      `SELECT wallet, key_sha256 FROM accounts FINAL
       WHERE wallet IN (SELECT wallet FROM api_keys WHERE key_sha256 = {key:String}) LIMIT 1`,
      { key: keySha256 },
    )
    if (row === undefined) return null
    if (isSameHash(row.key_sha256, keySha256)) return row.wallet
    onReplaced(row.wallet)
    return null
  }

  /** Rejects when fewer credits are left, not counting those reserved by feed connections. */
  async #requireLeft(wallet: Address, credits: number): Promise<void> {
    const left = Math.max(0, await this.#ledger.tell(wallet))
    if (left >= credits) return
    throw new ServiceError(
      'invalid_argument',
      `--credits: ${left} ${left === 1 ? 'is' : 'are'} left to take away; what connections of the feed hold comes back when they end`,
    )
  }

  #inTurn<T>(wallet: Address, task: (turn: HeldLock) => Promise<T>): Promise<T> {
    return this.#turns.withLock(`key:${wallet}`, task)
  }

  async #read(wallet: Address): Promise<AccountRow | null> {
    const [row] = await this.#store.query<AccountRow>(
      `SELECT toUnixTimestamp64Milli(created_at) AS created, key_sha256, key_last4, toUnixTimestamp64Milli(key_created_at) AS key_created,
              toUnixTimestamp64Milli(key_rotated_at) AS key_rotated, version
       FROM accounts FINAL WHERE wallet = {wallet:String} LIMIT 1`,
      { wallet },
    )
    return row ?? null
  }

  /** One row makes the new key valid and the old one invalid. */
  async #putKey(
    wallet: Address,
    account: AccountRow | null,
    turn: HeldLock,
  ): Promise<{ apiKey: ApiKey; key: KeyState }> {
    const apiKey = newApiKey()
    const now = this.#now()
    const key_sha256 = hashApiKey(apiKey)
    const before = stateOf(account)
    const key: KeyState = {
      last4: apiKey.slice(-4),
      createdAt: before?.createdAt ?? now,
      rotatedAt: before === null ? null : now,
    }
    const row: Row = {
      wallet,
      created_at: dateTime(account === null ? now : Number(account.created)),
      key_sha256,
      key_last4: key.last4,
      key_created_at: dateTime(key.createdAt),
      key_rotated_at: key.rotatedAt === null ? null : dateTime(key.rotatedAt),
      version: Math.max(now, Number(account?.version ?? 0) + 1),
    }
    await this.#store.insert('api_keys', [{ key_sha256, wallet, created_at: dateTime(now) }])
    turn.requireHeld()
    await this.#store.insert('accounts', [row])
    return { apiKey, key }
  }
}

interface AccountRow {
  readonly created: string
  readonly key_sha256: string
  readonly key_last4: string
  readonly key_created: string | null
  readonly key_rotated: string | null
  readonly version: string
}

function stateOf(account: AccountRow | null): KeyState | null {
  if (account === null || account.key_sha256 === '') return null
  return {
    last4: account.key_last4,
    createdAt: Number(account.key_created),
    rotatedAt: account.key_rotated === null ? null : Number(account.key_rotated),
  }
}

/** In constant time, though who could choose a hash would know its key. */
function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const MOST_ENSURED = 10_000
