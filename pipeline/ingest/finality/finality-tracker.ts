import type { BlockId } from '../../domain/block-id.ts'
import type { SlotRange } from '../catch-up.ts'

/** A block of the finalized chain, or a sealed one. */
export interface ChainBlock {
  readonly slot: number
  readonly parent: number
  /** Null if its hash is not known. It then counts as equal to any other. */
  readonly blockId: BlockId | null
}

/**
 * What the finalized chain says about the slots up to its next block.
 * - `withdrawn`: sealed slots in which it has another block, or none.
 * - `missing`: whether its own block was not sealed.
 */
export interface Passed {
  readonly block: ChainBlock
  readonly withdrawn: readonly ChainBlock[]
  readonly missing: boolean
}

/** Bounds of a finality tracker. */
export interface FinalityBounds {
  /** Sealed slots that wait for finality. The oldest are given up beyond this number. */
  readonly maxSealed: number
  /** Finalized blocks that wait for a slot to be sealed, or for the blocks before them. */
  readonly maxBlocks: number
}

/** Seven hours of slots at 10 MB; an hour of blocks. */
export const FINALITY_BOUNDS: FinalityBounds = { maxSealed: 65_536, maxBlocks: 8192 }

/**
 * Compares the finalized chain with what was sealed, block by block (rule K9). A pure state machine
 * with bounded memory. Blocks may come in any order and more than once.
 */
export class FinalityTracker {
  readonly #bounds: FinalityBounds
  /** The newest finalized block that was compared; null before the first sealed slot. */
  #tip: number | null
  #head: number | null = null
  /** Sealed slots after the tip, in order. */
  readonly #sealed = new Map<number, ChainBlock>()
  /** Finalized blocks after the tip. */
  readonly #blocks = new Map<number, ChainBlock>()
  /** Slots that are fetched by other means, so that a finalized block there is not missing. */
  #ignored: SlotRange[] = []

  /** `tip`: the slot up to which everything is compared; null starts with the first sealed slot. */
  constructor(tip: number | null, bounds = FINALITY_BOUNDS) {
    this.#tip = tip
    this.#bounds = bounds
  }

  /** The slot up to which everything is compared; null for none. */
  get tip(): number | null {
    return this.#tip
  }

  /** Number of sealed slots that are not final. */
  get waiting(): number {
    return this.#sealed.size
  }

  /** Adds a sealed slot, in the order of the chain. Returns how many slots it gives up. */
  addSealed(block: ChainBlock): number {
    this.#tip ??= block.parent
    this.#head = block.slot
    if (block.slot <= this.#tip) return 0
    this.#sealed.set(block.slot, block)
    const [oldest] = this.#sealed.keys()
    if (this.#sealed.size <= this.#bounds.maxSealed || oldest === undefined) return 0
    this.#sealed.delete(oldest)
    this.#moveTo(oldest)
    return 1
  }

  /** Slots that were passed over without being sealed, for good. */
  ignore(range: SlotRange): void {
    if (range.to >= range.from) this.#ignored.push(range)
  }

  /** Adds a block of the finalized chain. It is dropped when too many wait; RPC has it later. */
  addFinal(block: ChainBlock): void {
    if (this.#tip !== null && block.slot <= this.#tip) return
    if (this.#blocks.size < this.#bounds.maxBlocks) this.#blocks.set(block.slot, block)
  }

  /**
   * Takes the next block of the finalized chain. Null while it is unknown, or not passed by the
   * sealed slots.
   */
  take(): Passed | null {
    const block = this.#next()
    if (block === null) return null
    const withdrawn: ChainBlock[] = []
    let missing = !this.#ignored.some(({ from, to }) => from <= block.slot && block.slot <= to)
    for (const sealed of this.#sealed.values()) {
      if (sealed.slot > block.slot) break
      if (sealed.slot === block.slot && isSame(sealed.blockId, block.blockId)) missing = false
      else withdrawn.push(sealed)
    }
    this.#moveTo(block.slot)
    return { block, withdrawn, missing }
  }

  /**
   * Slots whose finalized blocks are wanted: from the tip to the newest sealed slot, or to the
   * oldest block that waits. Null when nothing waits.
   */
  wanted(): SlotRange | null {
    if (this.#tip === null || this.#head === null || this.#next() !== null) return null
    const to = Math.min(this.#head, ...this.#blocks.keys())
    return to > this.#tip ? { from: this.#tip + 1, to } : null
  }

  /** Whether a finalized block waits for one before it. */
  get hasGap(): boolean {
    const head = this.#head ?? -1
    return this.#next() === null && [...this.#blocks.keys()].some((slot) => slot <= head)
  }

  /** The finalized chain links each block to the one before it. */
  #next(): ChainBlock | null {
    const tip = this.#tip
    if (tip === null || this.#head === null) return null
    for (const block of this.#blocks.values())
      if (block.parent <= tip && block.slot > tip && block.slot <= this.#head) return block
    return null
  }

  #moveTo(slot: number): void {
    this.#tip = slot
    for (const passed of [this.#sealed, this.#blocks])
      for (const key of [...passed.keys()]) if (key <= slot) passed.delete(key)
    this.#ignored = this.#ignored.filter(({ to }) => to > slot)
  }
}

function isSame(a: BlockId | null, b: BlockId | null): boolean {
  return a === null || b === null || a === b
}
