import { decodeSnapshot, encodeSnapshot } from '../../fold/snapshot.ts'
import type { WalletState } from '../../fold/wallet-state.ts'

/** A wallet's state in memory. */
export interface CachedWallet {
  readonly state: WalletState
  /** Number of records in the wallet's last stored snapshot. */
  saved: number
}

/** A state as snapshot text: half the memory, and a single object for the garbage collector. */
interface Packed {
  readonly text: string
  readonly tokens: number
  readonly records: number
  readonly saved: number
}

/**
 * A cache of wallet states in two tiers, both in order of use: recent states as objects, older ones
 * as snapshot text. Sizes count positions, plus one a wallet. Only `trim` packs and evicts, because
 * a state must not be packed before its changes are taken (`takeChanges`).
 */
export class WalletCache {
  readonly #maxOpen: number
  readonly #maxPacked: number
  /** Both tiers are in order of use, least recently used first. */
  readonly #open = new Map<number, CachedWallet & { tokens: number }>()
  readonly #packed = new Map<number, Packed>()
  #openTokens = 0
  #packedTokens = 0

  /** `maxOpen` positions at about 0.8 KB each, `maxPacked` at about 0.4 KB. */
  constructor(options: { readonly maxOpen?: number; readonly maxPacked?: number } = {}) {
    this.#maxOpen = options.maxOpen ?? 250_000
    this.#maxPacked = options.maxPacked ?? 2_500_000
  }

  /** Number of cached wallets. */
  get size(): number {
    return this.#open.size + this.#packed.size
  }

  /** Whether the wallet is cached, in either tier. */
  has(wallet: number): boolean {
    return this.#open.has(wallet) || this.#packed.has(wallet)
  }

  /**
   * Returns a cached wallet, as an object. Does not count as use, except that packed text is
   * unpacked.
   */
  get(wallet: number): CachedWallet | undefined {
    const open = this.#open.get(wallet)
    if (open !== undefined) return open
    const packed = this.#packed.get(wallet)
    if (packed === undefined) return undefined
    return this.keep(decodeSnapshot(packed.text), packed.saved)
  }

  /**
   * Caches a state as the most recently used. `saved`: see `CachedWallet`; by default it stays as
   * it was.
   */
  keep(state: WalletState, saved = this.#savedOf(state.wallet)): CachedWallet {
    const { wallet } = state
    this.delete(wallet)
    const entry = { state, saved, tokens: 1 + state.tokens.size }
    this.#open.set(wallet, entry)
    this.#openTokens += entry.tokens
    return entry
  }

  /** Returns the wallets that changed since their last snapshot was stored. */
  moved(): number[] {
    const wallets: number[] = []
    for (const [wallet, { records, saved }] of this.#packed)
      if (records > saved) wallets.push(wallet)
    for (const [wallet, { state, saved }] of this.#open)
      if (countRecords(state) > saved) wallets.push(wallet)
    return wallets
  }

  /** Packs and evicts the least recently used states until both tiers are within their limits. */
  trim(): void {
    for (const [wallet, { state, saved, tokens }] of this.#open) {
      if (this.#openTokens <= this.#maxOpen) break
      this.delete(wallet)
      const packed = { text: encodeSnapshot(state), tokens, records: countRecords(state), saved }
      this.#packed.set(wallet, packed)
      this.#packedTokens += tokens
    }
    for (const wallet of this.#packed.keys()) {
      if (this.#packedTokens <= this.#maxPacked) break
      this.delete(wallet)
    }
  }

  /** Evicts a wallet. */
  delete(wallet: number): void {
    this.#openTokens -= this.#open.get(wallet)?.tokens ?? 0
    this.#open.delete(wallet)
    this.#packedTokens -= this.#packed.get(wallet)?.tokens ?? 0
    this.#packed.delete(wallet)
  }

  /** Evicts every wallet that is not wanted. */
  retain(isWanted: (wallet: number) => boolean): void {
    for (const tier of [this.#open, this.#packed])
      for (const wallet of tier.keys()) if (!isWanted(wallet)) this.delete(wallet)
  }

  #savedOf(wallet: number): number {
    return (this.#open.get(wallet) ?? this.#packed.get(wallet))?.saved ?? 0
  }
}

/** Returns the number of events and balance records that a state includes. */
export function countRecords(state: WalletState): number {
  return state.events + state.balances
}
