import type { Block } from './block.ts'
import type { SlotKind } from './chain-shape.ts'

/** A chain as the servers serve it: the market's, or one of recorded blocks. */
export interface Chain {
  /** The first slot that ever had a block. */
  readonly firstSlot: number
  kind(slot: number): SlotKind
  /** The newest produced slot before this one. */
  parent(slot: number): number
  /** The block of a produced slot, or the one that a dead slot had on its fork. */
  block(slot: number): Block
}
