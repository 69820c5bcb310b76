import type { SlotMarker } from '../../domain/slot.ts'
import { insertRows } from '../insert-rows.ts'
import { hasTable } from '../migrate.ts'
import type { Row, Store, WorkerPosition } from '../store.ts'

/** A row of table `progress`, with the columns that say whose position it is. */
export type ProgressRow = Row & WorkerPosition & { readonly partition: number }

/**
 * Stores the progress of workers. If a worker and partition has several rows, that of the highest
 * slot counts, and of several with that slot the last one.
 */
export async function insertProgress(store: Store, rows: readonly ProgressRow[]): Promise<void> {
  await insertRows(store, 'progress', rows)
  store.replicas?.remember(rows)
}

/** The newest position of each worker and partition; `slot` never goes back. */
export const POSITIONS = `SELECT worker, partition, max(slot) AS slot FROM progress
  GROUP BY worker, partition LIMIT 65536`

/**
 * Subquery: the highest slot that worker `fold` has stored of any partition; 0 without one. Rows of
 * higher slots are few: those of a flush that has not ended.
 */
export const NEWEST_FOLDED_SLOT = "SELECT max(slot) FROM progress WHERE worker = 'fold'"

/** A row of `POSITIONS`. */
export interface PositionRow {
  readonly worker: string
  readonly partition: number
  readonly slot: string
}

/**
 * Waits until the server has everything that these positions cover. On a replica set, tables are
 * replicated one by one, so a replica may have a row of `progress` before the rows that it covers.
 */
async function arrive(store: Store, positions: readonly WorkerPosition[]): Promise<void> {
  await store.replicas?.arriveAt(positions)
}

interface MarkerRow {
  readonly complete_slot: string
  readonly parent: string
  readonly block_time: number
  readonly sol_price_time: number | null
  readonly sol_price_usd_e9: string | null
}

/**
 * Returns the storage marker: the newest slot that is stored completely, which is the lowest slot
 * of worker `fold` over all partitions (rules J4, K3). Null until every partition has one. No read
 * shows data beyond it, and a single-process ingest restarts from it. Its block is not known:
 * table `sealed_slots` has it. `table`: this one, or a copy of it.
 */
export async function readStorageMarker(
  store: Store,
  table = 'progress',
): Promise<SlotMarker | null> {
  const [row] = await store.query<MarkerRow>(
    `SELECT complete_slot, parent, block_time, sol_price_time, sol_price_usd_e9
     FROM (SELECT *, count() OVER () AS known FROM ${table} FINAL WHERE worker = 'fold')
     WHERE known >= partitions
     ORDER BY complete_slot LIMIT 1`,
    {},
    ['complete_slot', 'parent', 'block_time', 'sol_price_time', 'sol_price_usd_e9'],
  )
  if (row === undefined) return null
  const marker = markerOf(row)
  await arrive(store, [{ worker: 'fold', partition: null, slot: marker.slot }])
  return marker
}

function markerOf(row: MarkerRow): SlotMarker {
  const { complete_slot, parent, block_time, sol_price_time, sol_price_usd_e9 } = row
  return {
    slot: Number(complete_slot),
    parent: Number(parent),
    blockTime: block_time,
    solPrice:
      sol_price_time === null || sol_price_usd_e9 === null
        ? null
        : { time: sol_price_time, usdE9: BigInt(sol_price_usd_e9) },
    blockId: null,
    finalized: null,
  }
}

/**
 * Returns the newest tick of the watchlist whose rows are all stored: unix seconds, divisible by
 * 10. Null before the first tick. Rows of later ticks must not be shown.
 */
export async function readNewestTick(store: Store): Promise<number | null> {
  const [row] = await store.query<{ block_time: number }>(
    "SELECT block_time FROM progress FINAL WHERE worker = 'trending' LIMIT 1",
    {},
    ['block_time'],
  )
  if (row === undefined) return null
  await arrive(store, [{ worker: 'trending', partition: null, slot: row.block_time }])
  return row.block_time
}

/**
 * Returns how many partitions the log has that storage comes from; 0 before the first position, and
 * for a database without tables.
 */
export async function readPartitions(store: Store): Promise<number> {
  if (!(await hasTable(store, 'progress'))) return 0
  const [row] = await store.query<{ partitions: number }>(
    "SELECT max(partitions) AS partitions FROM progress WHERE worker = 'fold'",
    {},
    ['partitions'],
  )
  return row?.partitions ?? 0
}

/** How far a worker has stored a partition. */
export interface StoredPosition {
  /** The newest stored marker that is not void (`Rewind`). */
  readonly marker: SlotMarker
  /** Slot of the newest marker that was ever stored: column `slot`. */
  readonly highest: number
  /** `LogExtent.id` of the log that was read; empty if an earlier version stored the row. */
  readonly logId: string
  /** Everything below this offset of that log is stored; 0 without a `logId`. */
  readonly nextOffset: bigint
  /**
   * The newest `LogBatch.time` of what is stored of that log, in unix milliseconds; 0 if it is not
   * known.
   */
  readonly logTime: number
  /** Fencing token of the owner that stored the row, and its generation of the group. */
  readonly fence: number
  readonly generation: number
}

/** Returns how far a worker has stored each partition. */
export async function readProgress(
  store: Store,
  worker: string,
): Promise<ReadonlyMap<number, StoredPosition>> {
  const rows = await store.query<
    MarkerRow &
      Record<'slot' | 'log_id' | 'next_offset' | 'log_time', string> &
      Record<'partition' | 'fence' | 'generation', number>
  >(
    `SELECT partition, slot, complete_slot, parent, block_time, sol_price_time, sol_price_usd_e9, log_id, next_offset, log_time,
       fence, generation
     FROM progress FINAL WHERE worker = {worker:String} LIMIT 65536`,
    { worker },
    [
      'partition',
      'slot',
      'complete_slot',
      'log_id',
      'next_offset',
      'log_time',
      'fence',
      'generation',
    ],
  )
  await arrive(
    store,
    rows.map(({ partition, slot }) => ({ worker, partition, slot: Number(slot) })),
  )
  return new Map(
    rows.map((row) => [
      row.partition,
      {
        marker: markerOf(row),
        highest: Number(row.slot),
        logId: row.log_id,
        nextOffset: BigInt(row.next_offset),
        logTime: Number(row.log_time),
        fence: row.fence,
        generation: row.generation,
      },
    ]),
  )
}

/**
 * Returns the position from which links of these partitions may not have been checked (rule K8):
 * the lowest slot, and the unix seconds (wall clock) of the oldest row. Null before the first
 * check.
 */
export async function readCheckedLinks(
  store: Store,
  partitions: readonly number[],
): Promise<{ readonly slot: number; readonly time: number } | null> {
  const [row] = await store.query<{ lowest: string; time: number; found: string }>(
    `SELECT min(slot) AS lowest, min(block_time) AS time, count() AS found FROM progress FINAL
     WHERE worker = 'links' AND partition IN {partitions:Array(UInt16)}`,
    { partitions },
  )
  return row === undefined || row.found === '0'
    ? null
    : { slot: Number(row.lowest), time: row.time }
}
