import { inserter } from '../insert-rows.ts'
import type { Store } from '../store.ts'

/** Stores rows. A row written again is the same. */
export const insertSlotGaps = inserter('slot_gaps')

/**
 * Returns the first 1000 gaps that end after slot `afterSlot` and up to `toSlot`, by end.
 * Partitions of the log may have stopped at different slots before one hole: the lowest counts.
 */
export async function readGaps(store: Store, afterSlot: number, toSlot: number) {
  const rows = await store.query<{ from_slot: string; to_slot: string }>(
    `SELECT min(slot_gaps.from_slot) AS from_slot, to_slot FROM slot_gaps
     WHERE to_slot > {afterSlot:UInt64} AND to_slot <= {toSlot:UInt64}
     GROUP BY to_slot ORDER BY to_slot LIMIT 1000`,
    { afterSlot, toSlot },
  )
  return rows.map((row) => ({ fromSlot: Number(row.from_slot), toSlot: Number(row.to_slot) }))
}
