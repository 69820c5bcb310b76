import type { SlotMarker } from '../../domain/slot.ts'
import { inserter } from '../insert-rows.ts'
import type { Store } from '../store.ts'
import { WAS_REDECODED } from './redecoded-wallets.ts'
import { NEWEST_WALLET } from './tracked-wallets.ts'

/**
 * Stores the progress of workers. If a worker and partition has several rows, the highest slot
 * counts.
 */
export const insertProgress = inserter('progress')

interface MarkerRow {
  readonly slot: string
  readonly parent: string
  readonly block_time: number
  readonly sol_price_time: number | null
  readonly sol_price_usd_e9: string | null
}

/**
 * Returns the storage marker: the newest slot that is stored completely, which is the lowest slot
 * of worker `fold` over all partitions (rules J4, K3). Null until every partition has one. No read
 * shows data beyond it, and a single-process ingest restarts from it. Its block is not known:
 * table `sealed_slots` has it.
 */
export async function readStorageMarker(store: Store): Promise<SlotMarker | null> {
  const [row] = await store.query<MarkerRow>(
    `SELECT slot, parent, block_time, sol_price_time, sol_price_usd_e9
     FROM (SELECT *, count() OVER () AS known FROM progress FINAL WHERE worker = 'fold')
     WHERE known >= partitions
     ORDER BY slot LIMIT 1`,
    {},
    ['slot', 'parent', 'block_time', 'sol_price_time', 'sol_price_usd_e9'],
  )
  if (row === undefined) return null
  return {
    slot: Number(row.slot),
    parent: Number(row.parent),
    blockTime: row.block_time,
    solPrice:
      row.sol_price_time === null || row.sol_price_usd_e9 === null
        ? null
        : { time: row.sol_price_time, usdE9: BigInt(row.sol_price_usd_e9) },
    blockId: null,
    finalized: null,
  }
}

/** Storage position that the API polls in one query. */
export interface StoragePositionRow {
  /** Slot of the storage marker, if `found` is `partitions`. */
  readonly lowest: string
  readonly block_time: number
  /** Number of partitions with a row. */
  readonly found: number
  /** Number of partitions of the log; 0 before the first row. */
  readonly partitions: number
  /** Number of tracked wallets. */
  readonly wallets: number
  /** Not 0 once a redecode has changed stored events. */
  readonly redecoded: number
}

/** Returns the storage marker, the number of wallets and whether events were redecoded. */
export async function readStoragePosition(store: Store): Promise<StoragePositionRow | undefined> {
  const [row] = await store.query<StoragePositionRow>(
    `SELECT min(slot) AS lowest, argMin(block_time, slot) AS block_time, toUInt32(count()) AS found,
       max(progress.partitions) AS partitions, (${NEWEST_WALLET}) AS wallets,
       (${WAS_REDECODED}) AS redecoded
     FROM progress FINAL WHERE worker = 'fold'`,
    {},
    ['lowest', 'block_time', 'found', 'partitions', 'wallets', 'redecoded'],
  )
  return row
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
  return row?.block_time ?? null
}

/** Returns the slot of the newest marker that a worker has stored, by partition. */
export async function readProgress(store: Store, worker: string) {
  const rows = await store.query<{ partition: number; slot: string }>(
    'SELECT partition, slot FROM progress FINAL WHERE worker = {worker:String} LIMIT 65536',
    { worker },
  )
  return new Map(rows.map(({ partition, slot }) => [partition, Number(slot)]))
}
