import { type Address, addressBytes } from '../../domain/address.ts'
import type { DecodedPool, Pair } from './pool-account.ts'
import { type PoolState, poolStateOf, readPool } from './pool-state.ts'
import { readVault, type Vault } from './vault.ts'

/** A token and the pool whose accounts give its price. */
export interface WatchedPool {
  readonly mint: Address
  readonly pool: Address
}

/** The content of an account at a slot. */
export interface AccountBytes {
  readonly slot: number
  /** Orders several updates of one account in one slot. */
  readonly writeVersion: number
  /** The program that owns the account, in base58. Any text for an account that does not exist. */
  readonly owner: string
  readonly data: Uint8Array
}

/** The kind of a decoded account. Only `pool` and `vault` are usable. */
export type AccountKind = 'pool' | 'vault' | 'closed' | 'malformed' | 'other'

/**
 * A decoded account. At most one of `pool` and `vault` is set; neither is for an unusable account.
 */
interface Snapshot {
  readonly slot: number
  readonly writeVersion: number
  readonly pool: DecodedPool | null
  readonly vault: Vault | null
}

interface WatchedAccount {
  readonly address: Address
  /** The tokens of a pool; none for a vault. */
  readonly mints: readonly Address[]
  /** The newest snapshot of a confirmed slot. */
  confirmed: Snapshot | null
  /** The newest update of a slot whose status has not come. */
  pending: AccountBytes | null
  /** Whether the account was read over RPC since the last stream opened. */
  fresh: boolean
}

/**
 * The newest snapshots of watched pools and their vaults.
 *
 * An update of the stream is pending until the `confirmed` status of its slot, so that a pool and
 * its vaults change together. A server at commitment `confirmed` sends updates only of confirmed
 * slots, so a dead slot leaves no update behind. Memory is bounded by the number of watched
 * accounts.
 */
export class PoolSnapshots {
  readonly #onRead: (kind: AccountKind) => void
  /** By mint. */
  #pools: ReadonlyMap<string, WatchedPool> = new Map()
  /** By public key, one latin-1 character per byte. */
  #accounts = new Map<string, WatchedAccount>()
  readonly #pending = new Set<WatchedAccount>()

  /** `onRead` is called for each decoded account. */
  constructor(onRead: (kind: AccountKind) => void = () => {}) {
    this.#onRead = onRead
  }

  /**
   * Replaces the watched pools. If a token has several pools, only the first is watched. Keeps the
   * snapshots of accounts that stay. Returns false when the set does not change.
   */
  replace(pools: readonly WatchedPool[]): boolean {
    const next = new Map<string, WatchedPool>()
    for (const watched of pools) if (!next.has(watched.mint)) next.set(watched.mint, watched)
    const isSame = ({ mint, pool }: WatchedPool) => this.#pools.get(mint)?.pool === pool
    if (next.size === this.#pools.size && [...next.values()].every(isSame)) return false
    this.#pools = next
    this.updateAccounts()
    return true
  }

  /** Number of watched pools. */
  get size(): number {
    return this.#pools.size
  }

  /** The accounts to subscribe to: pools that could be decoded, and their vaults. */
  subscribed(): Address[] {
    return this.#addresses(({ mints, confirmed }) => mints.length === 0 || confirmed?.pool != null)
  }

  /** Pools without a usable snapshot. */
  unread(): Address[] {
    return this.#addresses(({ mints, confirmed }) => mints.length > 0 && confirmed?.pool == null)
  }

  /** Subscribed accounts that were not read over RPC since the last stream opened. */
  stale(): Address[] {
    return this.subscribed().filter((address) => !this.#accounts.get(keyOf(address))?.fresh)
  }

  /** Marks all accounts as stale. Call it before a stream opens: updates may have been missed. */
  markStale(): void {
    for (const account of this.#accounts.values()) account.fresh = false
  }

  /** Adds an update of the stream. It is pending until `confirm` of its slot. */
  addUpdate(key: string, update: AccountBytes): void {
    const account = this.#accounts.get(key)
    if (account === undefined || !isNewer(update, account.pending ?? account.confirmed)) return
    account.pending = update
    this.#pending.add(account)
  }

  /** Applies the pending updates of a confirmed slot and of earlier slots. */
  confirm(slot: number): void {
    for (const account of this.#pending) {
      const { pending } = account
      if (pending !== null && pending.slot > slot) continue
      if (pending !== null) this.#decode(account, pending)
      account.pending = null
      this.#pending.delete(account)
    }
  }

  /** Applies an account read over RPC at a slot. Updates of later slots stay. */
  applyRead(address: Address, read: Omit<AccountBytes, 'writeVersion'>): void {
    const account = this.#accounts.get(keyOf(address))
    if (account === undefined) return
    account.fresh = true
    if ((account.confirmed?.slot ?? -1) > read.slot) return
    if (account.pending !== null && account.pending.slot <= read.slot) account.pending = null
    this.#decode(account, { ...read, writeVersion: Number.MAX_SAFE_INTEGER })
  }

  /**
   * The newest price and liquidity of a token; undefined while one of its accounts is not usable.
   */
  newest(mint: string): PoolState | undefined {
    const watched = this.#pools.get(mint)
    const account = watched && this.#accounts.get(keyOf(watched.pool))?.confirmed
    if (!watched || !account?.pool) return undefined
    const { reserves, mints } = account.pool
    if (!mints.includes(watched.mint)) return undefined
    let slot = account.slot
    let balances: Pair<bigint> | null = null
    if (reserves.kind === 'vaults') {
      const [first, second] = reserves.vaults.map(
        (vault) => this.#accounts.get(keyOf(vault))?.confirmed,
      )
      if (!first?.vault || !second?.vault) return undefined
      if (first.vault.mint !== mints[0] || second.vault.mint !== mints[1]) return undefined
      slot = Math.max(slot, first.slot, second.slot)
      balances = [first.vault.amount, second.vault.amount]
    }
    const state = poolStateOf(account.pool, watched.mint, balances)
    return state === null ? undefined : { mint: watched.mint, pool: watched.pool, slot, ...state }
  }

  /**
   * Adds the vaults of decoded pools and removes the vaults of pools that are closed or not
   * watched.
   */
  updateAccounts(): void {
    const mints = new Map<Address, Address[]>()
    for (const { mint, pool } of this.#pools.values()) {
      mints.set(pool, [...(mints.get(pool) ?? []), mint])
    }
    const next = new Map<string, WatchedAccount>()
    const add = (address: Address, mintsOfPool: readonly Address[]) => {
      const key = keyOf(address)
      if (next.has(key)) return
      const known = this.#accounts.get(key)
      next.set(key, {
        confirmed: null,
        pending: null,
        fresh: false,
        ...known,
        address,
        mints: mintsOfPool,
      })
    }
    for (const [pool, mintsOfPool] of mints) add(pool, mintsOfPool)
    for (const { confirmed } of [...next.values()]) {
      if (confirmed?.pool?.reserves.kind !== 'vaults') continue
      for (const vault of confirmed.pool.reserves.vaults) add(vault, [])
    }
    this.#accounts = next
    this.#pending.clear()
    for (const account of next.values()) if (account.pending) this.#pending.add(account)
  }

  #addresses(isIncluded: (account: WatchedAccount) => boolean): Address[] {
    return [...this.#accounts.values()].filter(isIncluded).map(({ address }) => address)
  }

  #decode(account: WatchedAccount, { slot, writeVersion, owner, data }: AccountBytes): void {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    const [mint] = account.mints
    if (mint === undefined) {
      const vault = readVault(owner, bytes)
      this.#onRead(vault === null ? 'malformed' : 'vault')
      account.confirmed = { slot, writeVersion, pool: null, vault }
      return
    }
    const reading = readPool(owner, bytes, mint)
    const isPool = typeof reading !== 'string'
    this.#onRead(isPool ? 'pool' : reading)
    account.confirmed = { slot, writeVersion, pool: isPool ? reading : null, vault: null }
  }
}

function isNewer(
  update: { readonly slot: number; readonly writeVersion: number },
  known: { readonly slot: number; readonly writeVersion: number } | null,
): boolean {
  if (known === null || update.slot !== known.slot) {
    return known === null || update.slot > known.slot
  }
  return update.writeVersion > known.writeVersion
}

const keyOf = (address: Address) => Buffer.from(addressBytes(address)).toString('latin1')
