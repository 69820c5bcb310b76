import { decodeSnapshot, encodeSnapshot } from '../../fold/snapshot.ts'
import type { WalletState } from '../../fold/wallet-state.ts'

/** A wallet's state in memory. */
export interface CachedWallet {
  readonly state: WalletState
  /** Records folded when its last snapshot was stored. */
  saved: number
}

/** A state as the text of its snapshot: half the memory, and nothing that the collector has to walk through. */
interface Packed {
  readonly text: string
  readonly tokens: number
  readonly records: number
  readonly saved: number
}

/**
 * States of wallets in memory, the least recently used first to go: those that moved of late as they are, those before them packed, and beyond
 * that none. Positions are counted, a wallet as one more. What was changed in a state has been taken (`takeChanges`) before `trim`.
 */
export class WalletCache {
  readonly #maxOpen: number
  readonly #maxPacked: number
  /** Both in the order of use, least recently first. */
  readonly #open = new Map<number, CachedWallet & { tokens: number }>()
  readonly #packed = new Map<number, Packed>()
  #openTokens = 0
  #packedTokens = 0

  /** `maxOpen` positions at about 0.8 KB each, `maxPacked` at about 0.4 KB. */
  constructor(options: { readonly maxOpen?: number; readonly maxPacked?: number } = {}) {
    this.#maxOpen = options.maxOpen ?? 250_000
    this.#maxPacked = options.maxPacked ?? 2_500_000
  }

  /** How many wallets are in memory. */
  get size(): number {
    return this.#open.size + this.#packed.size
  }

  has(wallet: number): boolean {
    return this.#open.has(wallet) || this.#packed.has(wallet)
  }

  get(wallet: number): CachedWallet | undefined {
    const open = this.#open.get(wallet)
    if (open !== undefined) return open
    const packed = this.#packed.get(wallet)
    if (packed === undefined) return undefined
    return this.keep(decodeSnapshot(packed.text), packed.saved)
  }

  /** Keeps a state as the one used last. */
  keep(state: WalletState, saved: number): CachedWallet {
    const { wallet } = state
    this.#forget(wallet)
    const entry = { state, saved, tokens: 1 + state.tokens.size }
    this.#open.set(wallet, entry)
    this.#openTokens += entry.tokens
    return entry
  }

  /** Wallets that have moved since their last snapshot was stored. */
  moved(): number[] {
    const wallets: number[] = []
    for (const [wallet, { records, saved }] of this.#packed)
      if (records > saved) wallets.push(wallet)
    for (const [wallet, { state, saved }] of this.#open)
      if (recordsOf(state) > saved) wallets.push(wallet)
    return wallets
  }

  /** Brings what is held back within its bounds. */
  trim(): void {
    for (const [wallet, { state, saved, tokens }] of this.#open) {
      if (this.#openTokens <= this.#maxOpen) break
      this.#forget(wallet)
      const packed = { text: encodeSnapshot(state), tokens, records: recordsOf(state), saved }
      this.#packed.set(wallet, packed)
      this.#packedTokens += tokens
    }
    for (const wallet of this.#packed.keys()) {
      if (this.#packedTokens <= this.#maxPacked) break
      this.#forget(wallet)
    }
  }

  clear(): void {
    this.#open.clear()
    this.#packed.clear()
    this.#openTokens = 0
    this.#packedTokens = 0
  }

  #forget(wallet: number): void {
    this.#openTokens -= this.#open.get(wallet)?.tokens ?? 0
    this.#open.delete(wallet)
    this.#packedTokens -= this.#packed.get(wallet)?.tokens ?? 0
    this.#packed.delete(wallet)
  }
}

/** Events and balance records folded. */
export function recordsOf(state: WalletState): number {
  return state.events + state.balances
}
