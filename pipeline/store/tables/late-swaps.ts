import type { BlockId } from '../../domain/block-id.ts'
import type { EventKey } from '../../domain/event-key.ts'
import { inserter } from '../insert-rows.ts'
import type { QueryParams, Row, Store } from '../store.ts'
import { EVENT_KEY, type EventKeyRow, keyOf, keyTuple } from './event-rows.ts'

/** Stores rows. A row written again is the same. */
export const insertLateSwaps = inserter('late_swaps')

/** Returns a row to insert in the form in which it is read. */
export function storedLateOf(row: Row): StoredLateRow {
  const { epoch, passed_slot, offset, slot, block_id } = row
  return {
    ...row,
    epoch: String(epoch),
    passed_slot: String(passed_slot),
    offset: String(offset),
    slot: String(slot),
    block_id: block_id === null ? null : String(block_id),
  } as StoredLateRow // of the columns' types
}

/** A place in the order of late swaps and withdrawals: see `LateMark`. */
export interface LatePlace {
  readonly epoch: number
  readonly passedSlot: number
  readonly partition: number
  readonly offset: number
}

/** Compares two places in the order of late swaps. */
export function compareLatePlaces(a: LatePlace, b: LatePlace): number {
  return (
    a.epoch - b.epoch ||
    a.passedSlot - b.passedSlot ||
    a.partition - b.partition ||
    a.offset - b.offset
  )
}

/** A late position: see `LatePosition` of the API. `offsets`: the newest one of each partition. */
export interface LateBound {
  readonly epoch: number
  readonly passedSlot: number
  readonly offsets: readonly (readonly [partition: number, offset: number])[]
}

/** Key and block of a late swap, and its place among late swaps. */
export interface LateRow {
  readonly key: EventKey
  readonly blockId: BlockId | null
  readonly mark: LatePlace
}

/** The columns of a place. */
export const PLACE = 'epoch, passed_slot, partition, offset'
/** The order of places, newest first. */
export const NEWEST = 'epoch DESC, passed_slot DESC, partition DESC, offset DESC'
/** A place as it is read. */
export type PlaceRow = { readonly partition: number } & Readonly<
  Record<'epoch' | 'passed_slot' | 'offset', string>
>
/** A row as it is read. */
export type StoredLateRow = EventKeyRow & PlaceRow & { readonly block_id: string | null }

/** The columns of `StoredLateRow`. */
export const LATE_COLUMNS = `${PLACE}, ${EVENT_KEY}, block_id`

/**
 * Returns late swaps that were sent after `from` and before the slot of `to`, in the order in which
 * they were sent; at most `limit`.
 */
export function readLate(
  store: Store,
  from: LateBound,
  to: Pick<LateBound, 'epoch' | 'passedSlot'> | null,
  limit: number,
): Promise<LateRow[]> {
  return readRows(
    store,
    `SELECT ${LATE_COLUMNS} FROM late_swaps FINAL WHERE slot > 0 AND ${isBetween(from, to)} ORDER BY ${PLACE} LIMIT {limit:UInt32}`,
    { limit },
  )
}

// Of a comparison of tuples ClickHouse would not use the primary key.

/** Condition: a place is not before a slot. */
function isSince({ epoch, passedSlot }: Pick<LateBound, 'epoch' | 'passedSlot'>): string {
  return `(epoch > ${epoch} OR (epoch = ${epoch} AND passed_slot >= ${passedSlot}))`
}

/** Condition: a place comes before the slot of `to`. */
export function isPlaceBefore({
  epoch,
  passedSlot,
}: Pick<LateBound, 'epoch' | 'passedSlot'>): string {
  return `(epoch < ${epoch} OR (epoch = ${epoch} AND passed_slot < ${passedSlot}))`
}

/** Condition: a place comes after `from`, and before the slot of `to`. */
export function isBetween(
  { epoch, passedSlot, offsets }: LateBound,
  to: Pick<LateBound, 'epoch' | 'passedSlot'> | null,
): string {
  const had = offsets.map(([partition, at]) => `(partition = ${partition} AND offset <= ${at})`)
  return [
    isSince({ epoch, passedSlot }),
    to === null ? [] : isPlaceBefore(to),
    had.length === 0
      ? []
      : `NOT (epoch = ${epoch} AND passed_slot = ${passedSlot} AND (${had.join(' OR ')}))`,
  ]
    .flat()
    .join(' AND ')
}

/**
 * Removes the late swaps of withdrawn slots from the order: those before the place of the
 * withdrawals on their partition. A place without a swap has slot 0.
 */
export async function voidLateSwaps(
  store: Store,
  slots: readonly number[],
  { epoch, passedSlot, partition, offset }: LatePlace,
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

/** Returns the place of the newest late swap before a slot; null if there is none. */
export async function readNewestLatePlace(
  store: Store,
  before: Pick<LateBound, 'epoch' | 'passedSlot'>,
): Promise<LatePlace | null> {
  // FINAL reads everything from a bound on. Without FINAL the end of the table gives the bound:
  // from it on are `newest` rows, of which some may be void by now.
  for (let newest = 100; ; newest *= 2) {
    const [bound] = await readPlacesBefore(store, 'WHERE', before, `LIMIT 1 OFFSET ${newest}`)
    const since = bound ? `FINAL WHERE ${isSince(bound)} AND` : 'FINAL WHERE'
    const [found] = await readPlacesBefore(store, since, before, 'LIMIT 1')
    if (found !== undefined) return found
    if (bound === undefined) return null
  }
}

/** The places of late swaps before a slot that also match `from`, newest first. */
async function readPlacesBefore(
  store: Store,
  from: string,
  before: Pick<LateBound, 'epoch' | 'passedSlot'>,
  limit: string,
): Promise<LatePlace[]> {
  const rows = await store.query<PlaceRow>(
    `SELECT ${PLACE} FROM late_swaps ${from} slot > 0 AND ${isPlaceBefore(before)} ORDER BY ${NEWEST} ${limit}`,
  )
  return rows.map(placeOf)
}

/** Converts a place. */
export function placeOf({ epoch, passed_slot, partition, offset }: PlaceRow): LatePlace {
  return {
    epoch: Number(epoch),
    passedSlot: Number(passed_slot),
    partition,
    offset: Number(offset),
  }
}

/** Returns the positions of these keys among late swaps. */
export function readPlaces(store: Store, keys: readonly EventKey[]): Promise<LateRow[]> {
  return readRows(
    store,
    `SELECT ${LATE_COLUMNS} FROM late_swaps FINAL WHERE (${EVENT_KEY}) IN (${keys.map(keyTuple).join(', ')}) LIMIT 100000`,
  )
}

async function readRows(store: Store, sql: string, params?: QueryParams): Promise<LateRow[]> {
  const rows = await store.query<StoredLateRow>(sql, params)
  return rows.map(lateOfRow)
}

/** Converts a row. */
export function lateOfRow(row: StoredLateRow): LateRow {
  return {
    key: keyOf(row),
    blockId: row.block_id === null ? null : BigInt(row.block_id),
    mark: placeOf(row),
  }
}
