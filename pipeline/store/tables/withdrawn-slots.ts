import type { BlockId } from '../../domain/block-id.ts'
import { insertRows } from '../insert-rows.ts'
import type { Store } from '../store.ts'

/** Subquery: the slots that were withdrawn. There are few. */
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

/** Whether the withdrawal of a slot at a place of the log is stored. */
export async function isWithdrawn(
  store: Store,
  slot: number,
  { epoch, partition, offset }: Pick<WithdrawnPlace, 'epoch' | 'partition' | 'offset'>,
): Promise<boolean> {
  const rows = await store.query(
    `SELECT 1 FROM withdrawn_slots WHERE slot = {slot:UInt64} AND epoch = {epoch:UInt64}
       AND partition = {partition:UInt16} AND offset = {offset:UInt64} LIMIT 1`,
    { slot, epoch, partition, offset },
  )
  return rows.length > 0
}

/** Returns the newest withdrawn slots, 100,000 at most. */
export async function readWithdrawnSlots(store: Store): Promise<Set<number>> {
  const rows = await store.query<{ slot: string }>(
    'SELECT DISTINCT slot FROM withdrawn_slots ORDER BY slot DESC LIMIT 100000',
  )
  return new Set(rows.map(({ slot }) => Number(slot)))
}
