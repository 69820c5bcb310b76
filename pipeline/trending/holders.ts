import { createHolder, type Holder, type HolderSums, isHolding } from './holder.ts'
import { isPackedHolding, packHolder, unpackHolder, unpackSums } from './packed-holder.ts'

/**
 * The positions of all wallets in one token. A token may have thousands of them, and an event
 * changes one, so each is packed while nothing needs it.
 */
export class Holders {
  /** By wallet; '' for one that has never been packed. */
  readonly #packed = new Map<number, string>()
  /** Those that `of` returned since they were last packed. */
  readonly #open = new Map<number, Holder>()

  has(wallet: number): boolean {
    return this.#packed.has(wallet)
  }

  /** Returns the position of a wallet, to read and to change until `pack`. */
  of(wallet: number): Holder {
    const open = this.#open.get(wallet)
    if (open !== undefined) return open
    const packed = this.#packed.get(wallet) ?? ''
    const holder = packed === '' ? createHolder(wallet) : unpackHolder(wallet, packed)
    if (packed === '') this.#packed.set(wallet, packed)
    this.#open.set(wallet, holder)
    return holder
  }

  /** The positions of wallets that hold the token, to read. */
  *holding(): Generator<HolderSums> {
    for (const [wallet, packed] of this.#packed) {
      const open = this.#open.get(wallet)
      if (open === undefined) {
        if (isPackedHolding(packed)) yield unpackSums(wallet, packed)
      } else if (isHolding(open)) yield open
    }
  }

  /** Packs every position. What `of` returned must not be changed any more. */
  pack(): void {
    for (const [wallet, holder] of this.#open) this.#packed.set(wallet, packHolder(holder))
    this.#open.clear()
  }
}
