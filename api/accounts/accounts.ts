import { timingSafeEqual } from 'node:crypto'
import type { Address } from '../../pipeline/domain/address.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { batchCalls } from '../../pipeline/runtime/batch-calls.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { type AccountLocks, createAccountLocks, type HeldLock } from '../account-locks.ts'
import type { Ledger } from '../credits/ledger.ts'
import { readEntryCredits } from '../credits/ledger-entries.ts'
import { type ApiKey, hashApiKey, newApiKey } from './api-key.ts'
import { type NamedKey, NamedKeys } from './named-keys.ts'

/** Subquery: the wallets with an account. */
export const ACCOUNT_WALLETS = 'SELECT DISTINCT wallet FROM accounts'

/** Returns those of these wallets whose account is disabled. */
export async function readDisabled(
  store: Store,
  wallets: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await store.query<{ readonly wallet: string }>(
    `SELECT wallet FROM accounts FINAL
     WHERE wallet IN {wallets:Array(String)} AND disabled_at IS NOT NULL LIMIT 1000000`,
    { wallets },
  )
  return new Set(rows.map(({ wallet }) => wallet))
}

const NO_CREDITS = async () => 0

/** State of an account's API key, as its owner sees it. Times are unix milliseconds. */
export interface KeyState {
  readonly last4: string
  /** When the first key was created. */
  readonly createdAt: number
  /** When the key was last rotated; null before the first rotation. */
  readonly rotatedAt: number | null
}

/** An account, as an operator sees it. `createdAt` is in unix milliseconds. */
export interface CustomerAccount {
  readonly wallet: string
  readonly createdAt: number
  /** Null while it has no key. */
  readonly key: KeyState | null
  /** Since when it is disabled, in unix milliseconds; null: it is not. */
  readonly disabledAt: number | null
}

/** A valid key: its account, and its terms if it is a named key. */
export interface StoredKey {
  readonly account: string
  /** Null: it is the account's own key. */
  readonly named: NamedKey | null
}

/**
 * Accounts of customers, identified by wallet, and their own API keys: one per account, named by
 * the newest row of `accounts`. `namedKeys` are the keys beside it. Every method
 * rejects with a retriable ServiceError `unavailable` when the store does not answer.
 */
export class Accounts {
  readonly #store: Store
  readonly #ledger: Ledger
  readonly #locks: AccountLocks
  readonly #now: () => number
  readonly namedKeys: NamedKeys
  /** Accounts known to exist; none is ever deleted. */
  readonly #ensured = new Set<Address>()
  /** Of customers, whose keys wait for no stranger's. */
  readonly #findKnownKey = batchCalls<string, KeyRow>((keys) => this.#findKeys(keys), {
    most: 500,
    atOnce: Number.POSITIVE_INFINITY,
  })
  readonly #findKey = batchCalls<string, KeyRow>((keys) => this.#findKeys(keys), {
    most: 500,
    atOnce: 2,
  })

  /** `locks` serialise changes of a key. Default: locks of this process only. */
  constructor(deps: {
    readonly store: Store
    readonly ledger: Ledger
    readonly locks?: AccountLocks
    readonly now?: () => number
  }) {
    this.#store = deps.store
    this.#ledger = deps.ledger
    this.#locks = deps.locks ?? createAccountLocks(null)
    this.#now = deps.now ?? Date.now
    this.namedKeys = new NamedKeys({ store: deps.store, locks: this.#locks, now: this.#now })
  }

  /**
   * Creates an account with a key and first credits. Returns the raw key, which is not stored.
   * Rejects with `account_exists`.
   */
  create(wallet: Address, credits: number): Promise<{ apiKey: ApiKey; left: number }> {
    return this.#withKeyLock(wallet, async (lock) => {
      if ((await this.#read(wallet)) !== null)
        throw new ServiceError('account_exists', 'this wallet already has an account')
      const left = (await this.#grantFirst(wallet, credits)) ?? 0
      // Last, because this row creates the account. If the process ends before, the ledger entry is
      // used by the next attempt or never.
      const { apiKey } = await this.#putKey(wallet, null, lock)
      return { apiKey, left }
    })
  }

  /** Creates the account of a wallet if it has none, without a key or credits (rule E3). */
  async ensure(wallet: Address): Promise<void> {
    if (this.#ensured.has(wallet)) return
    if (!(await this.exists(wallet))) {
      // Version 0, so that any concurrent change of the account wins.
      const created_at = dateTime(this.#now())
      await this.#store.insert('accounts', [{ wallet, created_at, version: 0 }])
    }
    if (this.#ensured.size >= MOST_ENSURED) this.#ensured.clear()
    this.#ensured.add(wallet)
  }

  /** Returns the accounts after a wallet, in the order of wallets, at most `limit`. */
  async list(after: string, limit: number): Promise<CustomerAccount[]> {
    const rows = await this.#store.query<AccountRow & { wallet: string }>(
      `SELECT wallet, ${ACCOUNT_COLUMNS} FROM accounts FINAL
       WHERE wallet > {after:String} ORDER BY wallet LIMIT {limit:UInt32}`,
      { after, limit },
    )
    return rows.map((row) => accountOf(row.wallet, row))
  }

  /** Returns the account of a wallet. Rejects with `account_not_found`. */
  async get(wallet: Address): Promise<CustomerAccount> {
    const row = await this.#read(wallet)
    if (row === null) throw noAccount()
    return accountOf(wallet, row)
  }

  async exists(wallet: Address): Promise<boolean> {
    return (await this.#read(wallet)) !== null
  }

  /** Whether a wallet has an account that is disabled. */
  async isDisabled(wallet: string): Promise<boolean> {
    return ((await this.#read(wallet))?.disabled ?? null) !== null
  }

  /**
   * Disables an account, or enables it again; idempotent. Returns since when it is disabled (unix
   * milliseconds), or null. The caller announces it to every process. Rejects with
   * `account_not_found`.
   */
  setDisabled(wallet: Address, isDisabled: boolean): Promise<number | null> {
    return this.#withKeyLock(wallet, async (lock) => {
      const account = await this.#read(wallet)
      if (account === null) throw noAccount()
      const { disabledAt } = accountOf(wallet, account)
      if ((disabledAt !== null) === isDisabled) return disabledAt
      const now = this.#now()
      const row: Row = {
        wallet,
        created_at: dateTime(Number(account.created)),
        key_sha256: account.key_sha256,
        key_last4: account.key_last4,
        key_created_at: dateTimeOf(account.key_created),
        key_rotated_at: dateTimeOf(account.key_rotated),
        disabled_at: isDisabled ? dateTime(now) : null,
        version: Math.max(now, Number(account.version) + 1),
      }
      lock.requireHeld()
      await this.#store.insert('accounts', [row])
      return isDisabled ? now : null
    })
  }

  /**
   * Returns the key of a wallet's account, and creates the account and the key if missing. `apiKey`
   * is the raw key for the call that created it, and null for every later call. With the first key
   * of a wallet its account gets as many credits as `firstCredits` says, once (rule L19). `left` is
   * what it has then, null if it got none.
   */
  async openKey(
    wallet: Address,
    firstCredits: () => Promise<number> = NO_CREDITS,
  ): Promise<{ apiKey: ApiKey | null; key: KeyState; left: number | null }> {
    const known = stateOf(await this.#read(wallet))
    if (known !== null) return { apiKey: null, key: known, left: null }
    return this.#withKeyLock(wallet, async (lock) => {
      const account = await this.#read(wallet)
      const key = stateOf(account)
      if (key !== null) return { apiKey: null, key, left: null }
      const left = await this.#grantFirst(wallet, await firstCredits())
      return { ...(await this.#putKey(wallet, account, lock)), left }
    })
  }

  /**
   * Replaces the key and returns the hash of the old one (null if there was none). From then on the
   * store refuses the old key. The caller announces it to the caches. `firstCredits` is as for
   * `openKey`.
   */
  rotateKey(
    wallet: Address,
    firstCredits: () => Promise<number> = NO_CREDITS,
  ): Promise<{
    apiKey: ApiKey
    key: KeyState
    revokedSha256: string | null
    left: number | null
  }> {
    return this.#withKeyLock(wallet, async (lock) => {
      const account = await this.#read(wallet)
      const isFirst = stateOf(account) === null
      const left = isFirst ? await this.#grantFirst(wallet, await firstCredits()) : null
      const put = await this.#putKey(wallet, account, lock)
      return { ...put, revokedSha256: account?.key_sha256 || null, left }
    })
  }

  /**
   * Grants an account its first credits, before its key is stored, so that an account with a key
   * has them. Returns what it has then, null if there are none to grant. An account has one such
   * entry, whether an operator or the first login made it, and however often it is repeated.
   */
  async #grantFirst(wallet: Address, credits: number): Promise<number | null> {
    if (credits === 0) return null
    return this.#ledger.add({
      account: wallet,
      key: 'created',
      credits,
      cause: 'grant',
      reason: '',
    })
  }

  /**
   * Adds credits by an operator's decision, or subtracts them if negative, once per key. Returns
   * the credits left, or null if the entry is stored but the meter does not answer and learns of it
   * later. Rejects with `account_not_found`, and with `invalid_argument` for a key used with
   * another sum or for more credits than are left. Credits that the account spends between check
   * and entry are not considered. Subtracting needs the meter.
   */
  async adjust(
    wallet: Address,
    credits: number,
    reason: string,
    key: string,
  ): Promise<number | null> {
    await this.get(wallet)
    const done = await readEntryCredits(this.#store, wallet, key)
    if (done !== null && done !== credits)
      throw new ServiceError('invalid_argument', `--key: already used for ${done} credits`)
    const append = () =>
      this.#ledger.append([{ account: wallet, key, credits, cause: 'adjustment', reason }])
    if (done === null && credits >= 0) await append()
    if (done === null && credits < 0)
      await this.#locks.withLock(`adjust:${wallet}`, async (lock) => {
        await this.#requireLeft(wallet, -credits)
        lock.requireHeld()
        await append()
      })
    return this.#ledger.updateMeter(wallet).catch(() => null)
  }

  /**
   * Returns the accounts whose key was rotated, or that were disabled, after a time, with the last
   * rotation or the time of disabling (unix milliseconds).
   */
  async revokedSince(
    unixMs: number,
  ): Promise<{ account: string; at: number; why: 'key_rotated' | 'account_disabled' }[]> {
    const rows = await this.#store.query<{
      wallet: string
      at: string
      why: 'key_rotated' | 'account_disabled'
    }>(
      `SELECT wallet, toUnixTimestamp64Milli(assumeNotNull(time)) AS at, why FROM accounts FINAL
       ARRAY JOIN [key_rotated_at, disabled_at] AS time, ['key_rotated', 'account_disabled'] AS why
       WHERE time >= fromUnixTimestamp64Milli({since:Int64}) LIMIT 100000`,
      { since: unixMs },
    )
    return rows.map(({ wallet, at, why }) => ({ account: wallet, at: Number(at), why }))
  }

  /**
   * Returns a valid key, by hash, or null if the key is unknown, replaced or deleted. Whether a
   * named key has expired is left to the caller. `onReplaced` gets the account of a key that was
   * replaced or deleted, `onFound` whether that of a valid key is disabled. Keys that are looked up
   * at the same time share a query. One that `isKnown` to have been valid waits for no query
   * before.
   */
  async findKey(
    keySha256: string,
    onReplaced: (wallet: string) => void = () => {},
    onFound: (wallet: string, isDisabled: boolean) => void = () => {},
    isKnown = false,
  ): Promise<StoredKey | null> {
    const row = await (isKnown ? this.#findKnownKey(keySha256) : this.#findKey(keySha256))
    if (row === undefined) return null
    const { wallet: account, named, disabled } = row
    if (named === null && !isSameHash(row.key_sha256, keySha256)) {
      onReplaced(account)
      return null
    }
    onFound(account, disabled !== null)
    return { account, named }
  }

  async #findKeys(keys: readonly string[]): Promise<Map<string, KeyRow>> {
    const rows = await this.#store.query<Omit<KeyRow, 'named'> & { key: string }>(
      `SELECT key, wallet, key_sha256, disabled
       FROM (SELECT DISTINCT key_sha256 AS key, wallet FROM api_keys WHERE key_sha256 IN {keys:Array(String)}) AS found
       INNER JOIN (
         SELECT wallet, key_sha256, toUnixTimestamp64Milli(disabled_at) AS disabled FROM accounts FINAL
         WHERE wallet IN (SELECT wallet FROM api_keys WHERE key_sha256 IN {keys:Array(String)})
       ) AS account USING (wallet)`,
      { keys },
    )
    const others = rows.filter((row) => row.key !== row.key_sha256)
    const named =
      others.length === 0
        ? new Map<string, NamedKey>()
        : await this.namedKeys.find(
            [...new Set(others.map(({ wallet }) => wallet))],
            others.map(({ key }) => key),
          )
    return new Map(rows.map((row) => [row.key, { ...row, named: named.get(row.key) ?? null }]))
  }

  /** Rejects when fewer credits are left. Credits reserved by feed connections do not count. */
  async #requireLeft(wallet: Address, credits: number): Promise<void> {
    const left = Math.max(0, await this.#ledger.updateMeter(wallet))
    if (left >= credits) return
    throw new ServiceError(
      'invalid_argument',
      `--credits: ${left} ${left === 1 ? 'is' : 'are'} left to subtract; credits reserved by feed connections return when they close`,
    )
  }

  #withKeyLock<T>(wallet: Address, task: (lock: HeldLock) => Promise<T>): Promise<T> {
    return this.#locks.withLock(`key:${wallet}`, task)
  }

  async #read(wallet: string): Promise<AccountRow | null> {
    const [row] = await this.#store.query<AccountRow>(
      `SELECT ${ACCOUNT_COLUMNS} FROM accounts FINAL WHERE wallet = {wallet:String} LIMIT 1`,
      { wallet },
    )
    return row ?? null
  }

  /** A single row makes the new key valid and the old one invalid. */
  async #putKey(
    wallet: Address,
    account: AccountRow | null,
    lock: HeldLock,
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
      disabled_at: dateTimeOf(account?.disabled ?? null),
      version: Math.max(now, Number(account?.version ?? 0) + 1),
    }
    await this.#store.insert('api_keys', [{ key_sha256, wallet, created_at: dateTime(now) }])
    lock.requireHeld()
    await this.#store.insert('accounts', [row])
    return { apiKey, key }
  }
}

const ACCOUNT_COLUMNS = `toUnixTimestamp64Milli(created_at) AS created, key_sha256, key_last4,
  toUnixTimestamp64Milli(key_created_at) AS key_created,
  toUnixTimestamp64Milli(key_rotated_at) AS key_rotated,
  toUnixTimestamp64Milli(disabled_at) AS disabled, version`

/** The account of a key, which may have another key by now. */
interface KeyRow extends Pick<AccountRow, 'key_sha256' | 'disabled'> {
  readonly wallet: string
  /** The key, if it is a named one that was not deleted. */
  readonly named: NamedKey | null
}

interface AccountRow {
  readonly created: string
  readonly key_sha256: string
  readonly key_last4: string
  readonly key_created: string | null
  readonly key_rotated: string | null
  readonly disabled: string | null
  readonly version: string
}

function accountOf(wallet: string, row: AccountRow): CustomerAccount {
  const disabledAt = row.disabled === null ? null : Number(row.disabled)
  return { wallet, createdAt: Number(row.created), key: stateOf(row), disabledAt }
}

function noAccount(): ServiceError {
  return new ServiceError('account_not_found', 'this wallet has no account')
}

/** Returns a time in unix milliseconds as the store takes it. */
function dateTimeOf(unixMs: string | null): string | null {
  return unixMs === null ? null : dateTime(Number(unixMs))
}

function stateOf(account: AccountRow | null): KeyState | null {
  if (account === null || account.key_sha256 === '') return null
  return {
    last4: account.key_last4,
    createdAt: Number(account.key_created),
    rotatedAt: account.key_rotated === null ? null : Number(account.key_rotated),
  }
}

/** In constant time, as a precaution: an attacker needs the key to choose its hash. */
function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const MOST_ENSURED = 10_000
