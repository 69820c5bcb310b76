import type { ChainShape } from './chain-shape.ts'

/** Slots between two blocks of a compressed history: a minute. */
export const COMPRESSED_SLOTS = 150

/**
 * The slots of a compressed history: one block per minute from slot `from` up to `before`, and
 * every block after that.
 */
export interface CompressedSlots {
  readonly from: number
  readonly before: number
}

/**
 * The shape of a chain on which all slots before `before` (a multiple of `COMPRESSED_SLOTS`) were
 * skipped but one per minute. Its blocks are the first produced ones at or after each multiple; the
 * whole chain has the same blocks.
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
