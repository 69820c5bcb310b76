import type { SlotMarker } from '../domain/slot.ts'
import type { Store } from './store.ts'

/**
 * The newest slot that is wholly stored, with its marker: the lowest of what worker `fold` has
 * stored of each partition (rules J4, K3). Null until every partition has one. No read shows what
 * is beyond it; in one process ingest starts again from it.
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
  }
}

interface MarkerRow {
  readonly slot: string
  readonly parent: string
  readonly block_time: number
  readonly sol_price_time: number | null
  readonly sol_price_usd_e9: string | null
}
