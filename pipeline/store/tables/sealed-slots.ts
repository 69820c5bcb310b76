import type { ResumePoint, SlotMarker } from '../../domain/slot.ts'
import { insertRows } from '../insert-rows.ts'
import type { Store } from '../store.ts'

/** Stores sealed slots. The row of a slot that is written last counts. */
export function insertSealedSlots(store: Store, markers: readonly SlotMarker[]): Promise<void> {
  const rows = markers.map(({ slot, parent, blockTime, solPrice, blockId, finalized }) => ({
    slot,
    parent,
    block_time: blockTime,
    block_id: blockId,
    finalized,
    sol_price_time: solPrice?.time ?? null,
    sol_price_usd_e9: solPrice?.usdE9 ?? null,
  }))
  return insertRows(store, 'sealed_slots', rows)
}

type SealedRow = Record<'slot' | 'parent', string> & { readonly block_time: number } & Record<
    'block_id' | 'finalized' | 'sol_price_usd_e9',
    string | null
  > & { readonly sol_price_time: number | null }

/**
 * Returns the sealed slots after the newest one that was known to be final when slot `checkpoint`
 * was sealed, up to `checkpoint` (rule K9).
 */
export async function readUnfinalizedSlots(
  store: Store,
  checkpoint: number,
): Promise<Pick<ResumePoint, 'finalized' | 'unfinalized'>> {
  const [row] = await store.query<{ finalized: string | null }>(
    'SELECT finalized FROM sealed_slots FINAL WHERE slot = {checkpoint:UInt64}',
    { checkpoint },
  )
  if (row === undefined || row.finalized === null) return { finalized: null, unfinalized: [] }
  const finalized = Number(row.finalized)
  const rows = await store.query<SealedRow>(
    `SELECT * EXCEPT inserted_at FROM sealed_slots FINAL
     WHERE slot > {finalized:UInt64} AND slot <= {checkpoint:UInt64} ORDER BY slot LIMIT 1000000`,
    { finalized, checkpoint },
  )
  return { finalized, unfinalized: rows.map(markerOf) }
}

function markerOf(row: SealedRow): SlotMarker {
  const { sol_price_time: time, sol_price_usd_e9: usdE9 } = row
  return {
    slot: Number(row.slot),
    parent: Number(row.parent),
    blockTime: row.block_time,
    solPrice: time === null || usdE9 === null ? null : { time, usdE9: BigInt(usdE9) },
    blockId: row.block_id === null ? null : BigInt(row.block_id),
    finalized: row.finalized === null ? null : Number(row.finalized),
  }
}
