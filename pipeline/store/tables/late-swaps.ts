import type { EventKey } from '../../domain/event-key.ts'
import { inserter } from '../insert-rows.ts'
import type { QueryParams, Store } from '../store.ts'
import { EVENT_KEY, type EventKeyRow, keyOf, keyTuple } from './event-rows.ts'

/** Stores rows. A row written again is the same. */
export const insertLateSwaps = inserter('late_swaps')

/** Key of a late swap, and its position among late swaps. */
export interface LateRow {
  readonly key: EventKey
  readonly mark: {
    readonly epoch: number
    readonly passedSlot: number
    readonly partition: number
    readonly offset: number
  }
}

type PlaceRow = EventKeyRow & { readonly partition: number } & Readonly<
    Record<'epoch' | 'passed_slot' | 'offset', string>
  >

const PLACE = 'epoch, passed_slot, partition, offset'
const COLUMNS = `${PLACE}, ${EVENT_KEY}`

/**
 * Returns late swaps that were sent after `from` and before the slot of `to`, in the order in which
 * they were sent; at most `limit`.
 */
export function readLate(
  store: Store,
  from: {
    readonly epoch: number
    readonly passedSlot: number
    /** The newest offset sent of a partition. */
    readonly offsets: readonly (readonly [partition: number, offset: number])[]
  },
  to: { readonly epoch: number; readonly passedSlot: number } | null,
  limit: number,
): Promise<LateRow[]> {
  const { epoch, passedSlot, offsets } = from
  const had = offsets.map(([partition, at]) => `(partition = ${partition} AND offset <= ${at})`)
  return readRows(
    store,
    `SELECT ${COLUMNS} FROM late_swaps FINAL
     WHERE slot > 0 AND (epoch, passed_slot) >= (${epoch}, ${passedSlot}) ${to === null ? '' : `AND (epoch, passed_slot) < (${to.epoch}, ${to.passedSlot})`}
       ${had.length === 0 ? '' : `AND NOT (epoch = ${epoch} AND passed_slot = ${passedSlot} AND (${had.join(' OR ')}))`}
     ORDER BY ${PLACE} LIMIT {limit:UInt32}`,
    { limit },
  )
}

/**
 * Removes the late swaps of withdrawn slots from the order: those before the place of the
 * withdrawals on their partition. A place without a swap has slot 0.
 */
export async function voidLateSwaps(
  store: Store,
  slots: readonly number[],
  { epoch, passedSlot, partition, offset }: LateRow['mark'],
): Promise<void> {
  await store.command(
    `INSERT INTO late_swaps
     SELECT * REPLACE (0 AS slot, 0 AS tx_index, 0 AS wallet, 0 AS event_index, now64(3) AS inserted_at)
     FROM (
       SELECT * FROM late_swaps FINAL
       WHERE slot IN {slots:Array(UInt64)} AND partition = {partition:UInt16}
         AND (epoch, passed_slot, offset) < (${epoch}, ${passedSlot}, ${offset})
     )`,
    { slots, partition },
  )
}

/** Returns the newest late swap before a slot; null if there is none. */
export async function readNewestLate(
  store: Store,
  { epoch, passedSlot }: { readonly epoch: number; readonly passedSlot: number },
): Promise<LateRow | null> {
  const [row = null] = await readRows(
    store,
    `SELECT ${COLUMNS} FROM late_swaps FINAL
     WHERE slot > 0 AND (epoch, passed_slot) < (${epoch}, ${passedSlot}) ORDER BY epoch DESC, passed_slot DESC, partition DESC, offset DESC LIMIT 1`,
  )
  return row
}

/** Returns the positions of these keys among late swaps. */
export function readPlaces(store: Store, keys: readonly EventKey[]): Promise<LateRow[]> {
  return readRows(
    store,
    `SELECT ${COLUMNS} FROM late_swaps FINAL WHERE (${EVENT_KEY}) IN (${keys.map(keyTuple).join(', ')}) LIMIT 100000`,
  )
}

async function readRows(store: Store, sql: string, params?: QueryParams): Promise<LateRow[]> {
  const rows = await store.query<PlaceRow>(sql, params)
  return rows.map(({ epoch, passed_slot, partition, offset, ...key }) => ({
    key: keyOf(key),
    mark: {
      epoch: Number(epoch),
      passedSlot: Number(passed_slot),
      partition,
      offset: Number(offset),
    },
  }))
}
