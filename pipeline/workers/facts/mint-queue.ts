import { LRUCache } from 'lru-cache'
import type { Address } from '../../domain/address.ts'

/** Maximum number of mints in the queue. The tables name those that did not fit. */
export const MAX_QUEUED_MINTS = 10_000
/** Mints known to have a row, so that a token traded all day costs no query. */
const MOST_KNOWN = 100_000

/** Mints to be requested from RPC, first in, first out, each once. */
export class MintQueue {
  readonly #waiting = new Set<Address>()
  readonly #known = new LRUCache<Address, true>({ max: MOST_KNOWN })

  /** Number of mints in the queue. */
  get size(): number {
    return this.#waiting.size
  }

  /**
   * Adds mints that are not known to have a row. Returns how many were added, and how many did not
   * fit.
   */
  note(mints: Iterable<Address>): { readonly added: number; readonly dropped: number } {
    const before = this.size
    let dropped = 0
    for (const mint of mints) {
      if (this.#known.has(mint)) continue
      if (this.size < MAX_QUEUED_MINTS) this.#waiting.add(mint)
      else dropped += 1
    }
    return { added: this.size - before, dropped }
  }

  /** Adds mints whether or not they are known. */
  add(mints: Iterable<Address>): void {
    for (const mint of mints) this.#waiting.add(mint)
  }

  /** Returns the first mints of the queue, which stay in it. */
  first(count: number): Address[] {
    return [...this.#waiting].slice(0, count)
  }

  /** Removes mints that have a row now. */
  finish(mints: readonly Address[]): void {
    for (const mint of mints) {
      this.#waiting.delete(mint)
      this.#known.set(mint, true)
    }
  }

  /** Moves mints to the end of the queue. */
  postpone(mints: readonly Address[]): void {
    for (const mint of mints) this.#waiting.delete(mint)
    for (const mint of mints) this.#waiting.add(mint)
  }
}
