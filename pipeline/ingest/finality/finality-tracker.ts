import { type BlockId, isOtherBlock } from '../../domain/block-id.ts'
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
 * - `isUnverified`: whether a block was sealed in its slot, and the hash of one of them is unknown.
 */
export interface Passed {
  readonly block: ChainBlock
  readonly withdrawn: readonly ChainBlock[]
  readonly missing: boolean
  readonly isUnverified: boolean
}

/** Bounds of a finality tracker. */
export interface FinalityBounds {
  /** Sealed slots that wait for finality. The oldest are given up beyond this number. */
  readonly maxSealed: number
  /**
   * Finalized blocks that wait for a slot to be sealed, or for the blocks before them. The newest
   * are dropped beyond this number, because RPC has them later.
   */
  readonly maxBlocks: number
}

/** `maxSealed` is seven hours of slots, in 10 MB of memory; `maxBlocks` is an hour of blocks. */
export const FINALITY_BOUNDS: FinalityBounds = { maxSealed: 65_536, maxBlocks: 8192 }

/**
 * Compares the finalized chain with what was sealed, block by block (rule K9). A pure state machine
 * with bounded memory. Blocks may come in any order and more than once.
 */
export class FinalityTracker {
  readonly #bounds: FinalityBounds
  /** Everything up to this slot is compared or needs no comparison; null before the first slot. */
  #tip: number | null
  #head: number | null = null
  /** Sealed slots after the tip, in order. */
  readonly #sealed = new Map<number, SealedBlock>()
  /** Finalized blocks after the tip. */
  readonly #blocks = new Map<number, ChainBlock>()
  /** Slots that were passed over without being sealed: a finalized block there is not missing. */
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

  /**
   * Adds a sealed slot, in the order of the chain. Returns how many slots it gives up.
   * `isWithdrawn`: everything of the slot is withdrawn, so the finalized block there is missing.
   */
  addSealed(block: ChainBlock, isWithdrawn = false): number {
    this.#tip ??= block.parent
    const head = this.#head ?? this.#tip
    if (block.parent > head) {
      this.#ignored.push({ from: head + 1, to: block.parent })
      this.#moveTo(this.#tip)
    }
    this.#head = block.slot
    if (block.slot <= this.#tip) return 0
    this.#sealed.set(block.slot, { block, isWithdrawn })
    const [oldest] = this.#sealed.keys()
    if (this.#sealed.size <= this.#bounds.maxSealed || oldest === undefined) return 0
    this.#sealed.delete(oldest)
    this.#moveTo(oldest)
    return 1
  }

  /** Adds a block of the finalized chain. When too many wait, the newest is dropped. */
  addFinal(block: ChainBlock): void {
    if (this.#tip !== null && block.slot <= this.#tip) return
    if (block.blockId === null && this.#blocks.has(block.slot)) return
    this.#blocks.set(block.slot, block)
    if (this.#blocks.size > this.#bounds.maxBlocks)
      this.#blocks.delete(Math.max(...this.#blocks.keys()))
  }

  /**
   * Takes the next block of the finalized chain. Null while it is unknown, or not passed by the
   * sealed slots.
   */
  take(): Passed | null {
    const block = this.#next()
    if (block === null || block.slot > (this.#head ?? -1)) return null
    const withdrawn: ChainBlock[] = []
    let missing = !this.#ignored.some(({ from, to }) => from <= block.slot && block.slot <= to)
    let isUnverified = false
    for (const { block: sealed, isWithdrawn } of this.#sealed.values()) {
      if (sealed.slot > block.slot) break
      if (isWithdrawn) continue
      if (sealed.slot === block.slot && !isOtherBlock(sealed.blockId, block.blockId)) {
        missing = false
        isUnverified = sealed.blockId === null || block.blockId === null
      } else withdrawn.push(sealed)
    }
    this.#moveTo(block.slot)
    return { block, withdrawn, missing, isUnverified }
  }

  /**
   * The first slots, `most` at most, of which the finalized blocks are wanted: those between the
   * tip and the oldest block that waits. Null when all sealed slots are compared, or when the next
   * block is known.
   */
  wanted(most: number): SlotRange | null {
    const tip = this.#tip
    if (tip === null || this.#head === null || this.#head <= tip) return null
    if (this.#next() !== null) return null
    return { from: tip + 1, to: Math.min(tip + most, this.#oldestBlock() - 1) }
  }

  /**
   * Gives up the finalized blocks of slots up to `to`: nobody has them. Goes no further than to the
   * oldest block that waits, and nowhere while slot `to` is not passed by the sealed slots. Returns
   * how many sealed slots stay unverified.
   */
  giveUp(to: number): number {
    if (this.#tip === null || to > (this.#head ?? -1)) return 0
    const end = Math.min(to, this.#blocks.get(this.#oldestBlock())?.parent ?? to)
    if (end <= this.#tip) return 0
    const unverified = [...this.#sealed.keys()].filter((slot) => slot <= end).length
    this.#moveTo(end)
    return unverified
  }

  /** Whether a finalized block waits for one before it. */
  get hasGap(): boolean {
    return this.#next() === null && this.#oldestBlock() <= (this.#head ?? -1)
  }

  /** The finalized chain links each block to the one before it. */
  #next(): ChainBlock | null {
    const tip = this.#tip
    if (tip === null || this.#head === null) return null
    for (const block of this.#blocks.values())
      if (block.parent <= tip && block.slot > tip) return block
    return null
  }

  /** The slot of the oldest block that waits; infinite for none. */
  #oldestBlock(): number {
    return Math.min(...this.#blocks.keys())
  }

  /** Moves the tip to a slot, or to the end of ignored slots that it reaches. */
  #moveTo(slot: number): void {
    let tip = slot
    for (const { from, to } of this.#ignored) if (from <= tip + 1) tip = Math.max(tip, to)
    this.#tip = tip
    for (const passed of [this.#sealed, this.#blocks])
      for (const key of [...passed.keys()]) if (key <= tip) passed.delete(key)
    this.#ignored = this.#ignored.filter(({ to }) => to > tip)
  }
}

interface SealedBlock {
  readonly block: ChainBlock
  readonly isWithdrawn: boolean
}
