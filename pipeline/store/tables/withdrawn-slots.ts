import type { BlockId } from '../../domain/block-id.ts'
import { insertRows } from '../insert-rows.ts'
import type { Store } from '../store.ts'

/**
 * Subquery: the slots that were withdrawn. There are few, except after a crash with much on the log
 * that was not appended whole.
 */
export const WITHDRAWN_SLOTS = 'SELECT slot FROM withdrawn_slots'

/** Subquery: whether any slot was withdrawn. */
export const HAS_WITHDRAWN = 'SELECT count() > 0 FROM withdrawn_slots'

/** Where on the log a slot was withdrawn. */
export interface WithdrawnPlace {
  readonly slot: number
  /** The block that was sealed; null if its hash is not known. */
  readonly blockId: BlockId | null
  readonly epoch: number
  readonly partition: number
  readonly offset: number
}

/** Stores withdrawals. A row written again is the same. */
export function insertWithdrawnSlots(
  store: Store,
  places: readonly WithdrawnPlace[],
): Promise<void> {
  const rows = places.map(({ slot, epoch, partition, offset, blockId }) => ({
    slot,
    epoch,
    partition,
    offset,
    block_id: blockId,
  }))
  return insertRows(store, 'withdrawn_slots', rows)
}

/** Returns the newest withdrawn slots, 100,000 at most. */
export async function readWithdrawnSlots(store: Store): Promise<Set<number>> {
  const rows = await store.query<{ slot: string }>(
    'SELECT DISTINCT slot FROM withdrawn_slots ORDER BY slot DESC LIMIT 100000',
  )
  return new Set(rows.map(({ slot }) => Number(slot)))
}
