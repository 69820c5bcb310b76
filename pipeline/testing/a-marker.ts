import type { SlotMarker } from '../domain/slot.ts'

/** The marker of a slot. Its parent is the previous slot by default. */
export function aMarker(slot: number, parent = slot - 1): SlotMarker {
  return {
    slot,
    parent,
    blockTime: 1_790_000_000 + slot,
    solPrice: null,
    blockId: null,
    finalized: null,
  }
}
