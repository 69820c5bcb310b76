import type { BlockId } from '../../domain/block-id.ts'
import { chainTo, type ResumePoint, type SlotMarker } from '../../domain/slot.ts'
import { insertRows } from '../insert-rows.ts'
import type { QueryParams, Store } from '../store.ts'

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

/** Returns the blocks of sealed slots; null where the hash of a block is not known. */
export async function readBlockIds(
  store: Store,
  slots: readonly number[],
): Promise<Map<number, BlockId | null>> {
  if (slots.length === 0) return new Map()
  const rows = await store.query<{ slot: string; block_id: string | null }>(
    'SELECT slot, block_id FROM sealed_slots FINAL WHERE slot IN {slots:Array(UInt64)} LIMIT 1000000',
    { slots },
  )
  return new Map(
    rows.map((row) => [Number(row.slot), row.block_id === null ? null : BigInt(row.block_id)]),
  )
}

type SealedRow = Record<'slot' | 'parent', string> & { readonly block_time: number } & Record<
    'block_id' | 'finalized' | 'sol_price_usd_e9',
    string | null
  > & { readonly sol_price_time: number | null }

/**
 * Subquery: the newest sealed slot up to `{finalized:UInt64}`; null for none. Reads only the end of
 * the stretch, which FINAL with a limit would not.
 */
const NEWEST_FINAL =
  'SELECT slot FROM sealed_slots WHERE slot <= {finalized:UInt64} ORDER BY slot DESC LIMIT 1'

/** Subquery: a slot a good 1,000 sealed ones before `{checkpoint:UInt64}`; some have two rows. */
const THOUSAND_BEFORE =
  'SELECT slot FROM sealed_slots WHERE slot < {checkpoint:UInt64} ORDER BY slot DESC LIMIT 1 OFFSET 4000'

/**
 * Returns what is not known to be final of the chain up to sealed slot `checkpoint` (rule K9):
 * `ResumePoint` says how. All that is stored of it if nothing was known to be final then, 1,000
 * slots at most.
 */
export async function readUnfinalizedSlots(
  store: Store,
  checkpoint: number,
): Promise<Pick<ResumePoint, 'finalized' | 'unfinalized'>> {
  const [newest] = await readSealed(store, 'slot = {checkpoint:UInt64}', { checkpoint }, 1)
  if (newest === undefined) return { finalized: null, unfinalized: [] }
  const { finalized } = newest
  const range =
    finalized === null
      ? `slot < {checkpoint:UInt64} AND slot >= ifNull((${THOUSAND_BEFORE}), 0) AND finalized IS NULL`
      : `slot < {checkpoint:UInt64} AND slot >= ifNull((${NEWEST_FINAL}), 0)`
  const params = { checkpoint, finalized: finalized ?? 0 }
  const sealed = await readSealed(store, range, params, finalized === null ? 1000 : 1_000_000)
  return { finalized, unfinalized: chainTo(newest, sealed) }
}

/**
 * Returns the block time of the newest sealed slot that was known to be final when `slot` was
 * sealed; null for none.
 */
export async function readFinalTime(store: Store, slot: number): Promise<number | null> {
  const [sealed] = await readSealed(store, 'slot = {slot:UInt64}', { slot }, 1)
  const finalized = sealed?.finalized ?? null
  if (finalized === null) return null
  const [newest] = await readSealed(store, `slot = (${NEWEST_FINAL})`, { finalized }, 1)
  return newest?.blockTime ?? null
}

/** Returns the markers of the slots after `slot` that were sealed, ascending; 100,000 at most. */
export async function readSealedAfter(store: Store, slot: number): Promise<SlotMarker[]> {
  const sealed = await readSealed(store, 'slot > {slot:UInt64}', { slot }, 100_000)
  return sealed.reverse()
}

/** The newest sealed slots of a range, newest first. */
async function readSealed(
  store: Store,
  range: string,
  params: QueryParams,
  limit: number,
): Promise<SlotMarker[]> {
  const rows = await store.query<SealedRow>(
    `SELECT * EXCEPT inserted_at FROM sealed_slots FINAL WHERE ${range} ORDER BY slot DESC LIMIT ${limit}`,
    params,
  )
  return rows.map(markerOf)
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
