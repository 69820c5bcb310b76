import { compareEventKeys, type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { LateMark } from '../../pipeline/log/late-order.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { endOfSlot, type LatePosition } from '../cursor.ts'
import type { Filter } from './filter.ts'
import {
  newestVersions,
  type StoredSwap,
  SWAP_COLUMNS,
  type SwapRow,
  swapOfRow,
} from './swap-row.ts'

/** Key of a late swap, and its position among late swaps. */
export interface LateRow {
  readonly key: EventKey
  readonly mark: LateMark
}

interface LateSwapRow extends SwapRow {
  readonly late: 'no' | 'stream' | 'backfill'
}

type KeyRow = Pick<SwapRow, 'slot' | 'tx_index' | 'wallet' | 'event_index'>

interface PlaceRow extends KeyRow {
  readonly epoch: string
  readonly passed_slot: string
  readonly partition: number
  readonly offset: string
}

const PLACE = 'epoch, passed_slot, partition, offset'
const COLUMNS = `${SWAP_COLUMNS}, late`
const KEY = 'slot, tx_index, wallet, event_index'

/**
 * Reads swaps strictly after `after` and up to slot `toSlot` that match the filter, oldest first,
 * at most about `limit` rows. Backfilled history is left out. The result is complete up to `end`;
 * `gaps` are the skipped slots up to there.
 *
 * As in `newest-swaps.ts`, the highest version of a key counts and is selected here, because the
 * table is then read in its order, only as far as needed.
 */
export async function readStoredSwaps(
  store: Store,
  of: {
    readonly after: EventKey
    readonly toSlot: number
    readonly filter: Filter
    readonly limit: number
  },
): Promise<{
  readonly swaps: StoredSwap[]
  readonly gaps: { readonly fromSlot: number; readonly toSlot: number }[]
  readonly end: EventKey
}> {
  const { after, toSlot, filter } = of
  for (let limit = of.limit; ; limit *= 2) {
    const [rows, allGaps] = await Promise.all([
      store.query<LateSwapRow>(swapsAfter(filter), {
        ...after,
        toSlot,
        limit,
        ...(filter.wallets && { wallets: [...filter.wallets] }),
        ...(filter.mints && { mints: [...filter.mints] }),
      }),
      readGaps(store, after.slot, toSlot),
    ])
    const newest = newestVersions(rows)
    const isFull = rows.length >= limit
    // The last key may have more rows after the page.
    const complete = isFull ? newest.slice(0, -1) : newest
    const last = complete.at(-1)
    if (isFull && last === undefined) continue
    const end = isFull && last !== undefined ? keyOf(last) : endOfSlot(toSlot)
    const gaps = allGaps.filter((gap) => compareEventKeys(endOfSlot(gap.toSlot), end) <= 0)
    return { swaps: served(complete), gaps, end }
  }
}

/** Reads stored swaps of these keys, by `eventKeyText`; backfilled history is left out. */
export async function readSwapsOf(
  store: Store,
  keys: readonly EventKey[],
): Promise<Map<string, StoredSwap>> {
  const swaps = served(await readRowsOf(store, keys))
  return new Map(swaps.map((swap) => [eventKeyText(swap), swap]))
}

/** Reads the row with the highest version of each key, deleted rows included. */
export async function readRowsOf(
  store: Store,
  keys: readonly EventKey[],
): Promise<readonly LateSwapRow[]> {
  if (keys.length === 0) return []
  const rows = await store.query<LateSwapRow>(
    `SELECT ${COLUMNS} FROM swaps
     WHERE slot IN {slots:Array(UInt64)} AND (${KEY}) IN (${keys.map(tuple).join(', ')}) ORDER BY ${KEY} LIMIT 100000`,
    { slots: [...new Set(keys.map(({ slot }) => slot))] },
  )
  return newestVersions(rows)
}

/** Returns the keys that are stored, as `eventKeyText`. */
export async function readStoredKeys(
  store: Store,
  keys: readonly EventKey[],
): Promise<ReadonlySet<string>> {
  const rows = await store.query<KeyRow>(
    `SELECT DISTINCT ${KEY} FROM swaps
     WHERE slot IN {slots:Array(UInt64)} AND (${KEY}) IN (${keys.map(tuple).join(', ')}) LIMIT 100000`,
    { slots: [...new Set(keys.map(({ slot }) => slot))] },
  )
  return new Set(rows.map((row) => eventKeyText(keyOf(row))))
}

/**
 * Reads late swaps that were sent after `from` and before the slot of `to`, in the order in which
 * they were sent; at most `limit`.
 */
export async function readLate(
  store: Store,
  from: LatePosition,
  to: LatePosition | null,
  limit: number,
): Promise<LateRow[]> {
  const { epoch, passedSlot, offsets } = from
  const had = offsets.map(([partition, at]) => `(partition = ${partition} AND offset <= ${at})`)
  const rows = await store.query<PlaceRow>(
    `SELECT DISTINCT ${PLACE}, ${KEY} FROM late_swaps
     WHERE (epoch, passed_slot) >= (${epoch}, ${passedSlot}) ${to === null ? '' : `AND (epoch, passed_slot) < (${to.epoch}, ${to.passedSlot})`}
       ${had.length === 0 ? '' : `AND NOT (epoch = ${epoch} AND passed_slot = ${passedSlot} AND (${had.join(' OR ')}))`}
     ORDER BY ${PLACE} LIMIT {limit:UInt32}`,
    { limit },
  )
  return rows.map(lateOf)
}

/** Reads the positions of these keys among late swaps. */
export async function readPlaces(store: Store, keys: readonly EventKey[]): Promise<LateRow[]> {
  const rows = await store.query<PlaceRow>(
    `SELECT DISTINCT ${PLACE}, ${KEY} FROM late_swaps WHERE (${KEY}) IN (${keys.map(tuple).join(', ')}) LIMIT 100000`,
  )
  return rows.map(lateOf)
}

/** Late swaps relative to a position among them. */
export interface LateKeys {
  /** Late swaps after the position, as `eventKeyText`. */
  readonly unsettled: ReadonlySet<string>
  /** The newest late swap before the position. */
  readonly newest: LateMark | null
}

/**
 * Reads late swaps relative to `late`. Call it after reading swaps: it then includes each late one
 * of them.
 */
export async function readLateKeys(store: Store, late: LatePosition): Promise<LateKeys> {
  const [unsettled, [newest]] = await Promise.all([
    readLate(store, late, null, MAX_UNSETTLED),
    store.query<PlaceRow>(
      `SELECT ${PLACE}, ${KEY} FROM late_swaps
       WHERE (epoch, passed_slot) < (${late.epoch}, ${late.passedSlot}) ORDER BY epoch DESC, passed_slot DESC, partition DESC, offset DESC LIMIT 1`,
    ),
  ])
  return {
    unsettled: new Set(unsettled.map(({ key }) => eventKeyText(key))),
    newest: newest ? lateOf(newest).mark : null,
  }
}

/** Bound of late swaps beyond the storage marker: a few, unless storage is far behind. */
const MAX_UNSETTLED = 100_000

async function readGaps(store: Store, afterSlot: number, toSlot: number) {
  const rows = await store.query<{ from_slot: string; to_slot: string }>(
    `SELECT DISTINCT from_slot, to_slot FROM slot_gaps
     WHERE to_slot > {afterSlot:UInt64} AND to_slot <= {toSlot:UInt64} ORDER BY to_slot LIMIT 1000`,
    { afterSlot, toSlot },
  )
  return rows.map((row) => ({ fromSlot: Number(row.from_slot), toSlot: Number(row.to_slot) }))
}

// The first condition is implied by the second, and lets ClickHouse use the primary key.
const swapsAfter = ({ wallets, mints }: Filter) => `
  SELECT ${COLUMNS} FROM swaps
  WHERE slot >= {slot:UInt64} AND slot <= {toSlot:UInt64}
    AND (${KEY}) > ({slot:UInt64}, {txIndex:UInt32}, {wallet:UInt32}, {eventIndex:Int64})
    ${wallets ? 'AND wallet IN {wallets:Array(UInt32)}' : ''} ${mints ? 'AND base_mint IN {mints:Array(String)}' : ''}
  ORDER BY ${KEY} LIMIT {limit:UInt32}
  SETTINGS optimize_use_projections = 0` // reading in the table's own order takes half the time

const tuple = ({ slot, txIndex, wallet, eventIndex }: EventKey) =>
  `(${slot}, ${txIndex}, ${wallet}, ${eventIndex})`

function lateOf(row: PlaceRow): LateRow {
  const { epoch, passed_slot, partition, offset } = row
  return {
    key: keyOf(row),
    mark: {
      epoch: Number(epoch),
      passedSlot: Number(passed_slot),
      partition,
      offset: Number(offset),
    },
  }
}

/** Returns the event key of a row. */
export function keyOf(row: KeyRow): EventKey {
  return {
    slot: Number(row.slot),
    txIndex: row.tx_index,
    wallet: row.wallet,
    eventIndex: row.event_index,
  }
}

function served(newest: readonly LateSwapRow[]): StoredSwap[] {
  return newest
    .filter(({ is_deleted, late }) => is_deleted === 0 && late !== 'backfill')
    .map(swapOfRow)
}
