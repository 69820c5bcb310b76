import type { ChainShape } from './chain-shape.ts'

/** Slots from one block of a compressed history to the next: a minute. */
export const COMPRESSED_SLOTS = 150

/** The slots of a compressed history: from `from` on, one block a minute before slot `before`, every block from there on. */
export interface CompressedSlots {
  readonly from: number
  readonly before: number
}

/**
 * The shape of a chain whose slots before `before` (a multiple of `COMPRESSED_SLOTS`) were all skipped but for one a minute. Its blocks are the first produced
 * ones from each multiple on, which the chain also has where it is not compressed.
 */
export function compressBefore(shape: ChainShape, before: number): ChainShape {
  const minuteOf = (slot: number) => Math.floor(slot / COMPRESSED_SLOTS)
  const blockOf = (minute: number) => shape.atOrAfter(minute * COMPRESSED_SLOTS)
  return {
    kind(slot) {
      if (slot >= before) return shape.kind(slot)
      return blockOf(minuteOf(slot)) === slot ? 'produced' : 'skipped'
    },
    parent(slot) {
      const candidate = slot > before ? shape.parent(slot) : before - 1
      if (candidate >= before) return candidate
      const below = Math.min(slot, before) - 1
      const block = blockOf(minuteOf(below))
      return block <= below ? block : blockOf(minuteOf(below) - 1)
    },
    atOrAfter(slot) {
      return slot >= before ? shape.atOrAfter(slot) : minuteBlockFrom(shape, slot)
    },
    height(slot) {
      if (slot >= before) return shape.height(slot)
      return shape.height(shape.atOrAfter(before)) - (minuteOf(before) - minuteOf(slot))
    },
  }
}

/** The first block of a minute at or after a slot. */
export function minuteBlockFrom(shape: ChainShape, slot: number): number {
  const minute = Math.floor(slot / COMPRESSED_SLOTS)
  const block = shape.atOrAfter(minute * COMPRESSED_SLOTS)
  return block >= slot ? block : shape.atOrAfter((minute + 1) * COMPRESSED_SLOTS)
}
