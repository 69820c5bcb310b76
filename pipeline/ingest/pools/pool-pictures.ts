import { type Address, addressBytes } from '../../domain/address.ts'
import type { Pair, PoolAccount } from './pool-account.ts'
import { type PoolState, readPool, stateOf } from './pool-state.ts'
import { readVault, type Vault } from './vault.ts'

/** A token and the pool that it is read from. */
export interface WatchedPool {
  readonly mint: Address
  readonly pool: Address
}

/** An account's bytes as somebody told them. */
export interface AccountBytes {
  readonly slot: number
  /** Orders what one slot wrote. */
  readonly writeVersion: number
  /** Address of the program that owns it; of an account that does not exist, anything. */
  readonly owner: string
  readonly data: Uint8Array
}

/** What an account was found to be: counted, and of no use but for `pool` and `vault`. */
export type PictureKind = 'pool' | 'vault' | 'closed' | 'malformed' | 'other'

interface Picture {
  readonly slot: number
  readonly writeVersion: number
  readonly pool: PoolAccount | null
  readonly vault: Vault | null
}

interface Account {
  readonly address: Address
  /** The tokens whose pool it is; none for a vault. */
  readonly mints: readonly Address[]
  settled: Picture | null
  staged: AccountBytes | null
  /** Whether it was read over RPC since it was last asked of a stream. */
  fresh: boolean
}

/**
 * The newest pictures of watched pools and their vaults. What the stream tells of a slot is staged until the slot's status comes, so that pool and vaults of one slot
 * change together. At `confirmed` a server tells of a slot only once it is confirmed: a slot that dies before leaves nothing here. Memory is bounded by what is watched.
 */
export class PoolPictures {
  readonly #tell: (kind: PictureKind) => void
  #pools: ReadonlyMap<string, WatchedPool> = new Map()
  /** By public key, one character a byte. */
  #accounts = new Map<string, Account>()
  readonly #staged = new Set<Account>()

  constructor(tell: (kind: PictureKind) => void = () => {}) {
    this.#tell = tell
  }

  /** Watches these pools from now on, one a token, the first that is named; keeps what is known of those that were watched before. False when that changes nothing. */
  replace(pools: readonly WatchedPool[]): boolean {
    const next = new Map<string, WatchedPool>()
    for (const watched of pools) if (!next.has(watched.mint)) next.set(watched.mint, watched)
    const isSame = ({ mint, pool }: WatchedPool) => this.#pools.get(mint)?.pool === pool
    if (next.size === this.#pools.size && [...next.values()].every(isSame)) return false
    this.#pools = next
    this.arrange()
    return true
  }

  /** How many pools are watched. */
  get size(): number {
    return this.#pools.size
  }

  /** Every account to be followed: pools that could be read, and their vaults. */
  followed(): Address[] {
    return this.#addresses(({ mints, settled }) => mints.length === 0 || settled?.pool != null)
  }

  /** Pools of which nothing is known, or nothing that can be read. */
  unread(): Address[] {
    return this.#addresses(({ mints, settled }) => mints.length > 0 && settled?.pool == null)
  }

  /** Accounts to be followed that were not read since they were asked of a stream. */
  stale(): Address[] {
    return this.followed().filter((address) => !this.#accounts.get(keyOf(address))?.fresh)
  }

  /** A stream broke: whatever changed since is unknown. */
  forgetStream(): void {
    for (const account of this.#accounts.values()) account.fresh = false
  }

  /** Takes an update of the stream; it counts once the status of its slot has come. */
  stage(key: string, update: AccountBytes): void {
    const account = this.#accounts.get(key)
    if (account === undefined || !isNewer(update, account.staged ?? account.settled)) return
    account.staged = update
    this.#staged.add(account)
  }

  /** The slot is confirmed: what was staged of it and of earlier ones counts. */
  settle(slot: number): void {
    for (const account of this.#staged) {
      const { staged } = account
      if (staged !== null && staged.slot > slot) continue
      if (staged !== null) this.#take(account, staged)
      account.staged = null
      this.#staged.delete(account)
    }
  }

  /** Takes an account as RPC tells it as of a slot, null for one that does not exist. What the stream told of a later slot stays. */
  read(address: Address, told: Omit<AccountBytes, 'writeVersion'>): void {
    const account = this.#accounts.get(keyOf(address))
    if (account === undefined) return
    account.fresh = true
    if ((account.settled?.slot ?? -1) > told.slot) return
    if (account.staged !== null && account.staged.slot <= told.slot) account.staged = null
    this.#take(account, { ...told, writeVersion: Number.MAX_SAFE_INTEGER })
  }

  /** Price and liquidity of a token as its pool's accounts tell; undefined while one of them is not known, or of no use. */
  newest(mint: string): PoolState | undefined {
    const watched = this.#pools.get(mint)
    const account = watched && this.#accounts.get(keyOf(watched.pool))?.settled
    if (!watched || !account?.pool) return undefined
    const { holds, mints } = account.pool
    if (!mints.includes(watched.mint)) return undefined
    let slot = account.slot
    let balances: Pair<bigint> | null = null
    if (holds.kind === 'vaults') {
      const [first, second] = holds.vaults.map((vault) => this.#accounts.get(keyOf(vault))?.settled)
      if (!first?.vault || !second?.vault) return undefined
      if (first.vault.mint !== mints[0] || second.vault.mint !== mints[1]) return undefined
      slot = Math.max(slot, first.slot, second.slot)
      balances = [first.vault.amount, second.vault.amount]
    }
    const state = stateOf(account.pool, watched.mint, balances)
    return state === null ? undefined : { mint: watched.mint, pool: watched.pool, slot, ...state }
  }

  #addresses(is: (account: Account) => boolean): Address[] {
    return [...this.#accounts.values()].filter(is).map(({ address }) => address)
  }

  /** Makes room for the vaults of pools that have been read, and forgets those of pools that are closed. */
  arrange(): void {
    const mints = new Map<Address, Address[]>()
    for (const { mint, pool } of this.#pools.values())
      mints.set(pool, [...(mints.get(pool) ?? []), mint])
    const next = new Map<string, Account>()
    const place = (address: Address, of: readonly Address[]) => {
      const key = keyOf(address)
      const known = this.#accounts.get(key)
      const account = { settled: null, staged: null, fresh: false, ...known, address, mints: of }
      if (!next.has(key)) next.set(key, account)
    }
    for (const [pool, of] of mints) place(pool, of)
    for (const { settled } of [...next.values()])
      if (settled?.pool?.holds.kind === 'vaults')
        for (const vault of settled.pool.holds.vaults) place(vault, [])
    this.#accounts = next
    this.#staged.clear()
    for (const account of next.values()) if (account.staged) this.#staged.add(account)
  }

  #take(account: Account, { slot, writeVersion, owner, data }: AccountBytes): void {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    const place = { slot, writeVersion }
    const [mint] = account.mints
    if (mint === undefined) {
      const vault = readVault(owner, bytes)
      this.#tell(vault === null ? 'malformed' : 'vault')
      account.settled = { ...place, pool: null, vault }
      return
    }
    const reading = readPool(owner, bytes, mint)
    const isPool = typeof reading !== 'string'
    this.#tell(isPool ? 'pool' : reading)
    account.settled = { ...place, pool: isPool ? reading : null, vault: null }
  }
}

function isNewer(
  update: { readonly slot: number; readonly writeVersion: number },
  than: { readonly slot: number; readonly writeVersion: number } | null,
): boolean {
  if (than === null || update.slot !== than.slot) return than === null || update.slot > than.slot
  return update.writeVersion > than.writeVersion
}

const keyOf = (address: Address) => Buffer.from(addressBytes(address)).toString('latin1')
