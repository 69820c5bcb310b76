import type { BlockId } from '../../domain/block-id.ts'
import type { EventKey } from '../../domain/event-key.ts'
import type { Store } from '../store.ts'
import { EVENT_KEY, type EventKeyRow, keyOf } from './event-rows.ts'
import {
  compareLatePlaces,
  isBetween,
  isPlaceBefore,
  type LateBound,
  type LatePlace,
  NEWEST,
  PLACE,
  type PlaceRow,
  placeOf,
  readNewestLatePlace,
} from './late-swaps.ts'
import { type StoredSwap, type SwapRow, swapOfRow } from './swaps.ts'

/** A swap that was withdrawn with its slot (rule K9). */
export interface WithdrawnSwap {
  readonly key: EventKey
  readonly swap: StoredSwap
  /** The block of the swap; null if its hash is not known. */
  readonly blockId: BlockId | null
  /** Place of the withdrawal, which all swaps of the slot on its partition share. */
  readonly mark: LatePlace
  /** Place of the swap among late ones; null if it came in the order of the chain. */
  readonly lateMark: LatePlace | null
}

/** The columns of a swap that are served. */
const SERVED = `${EVENT_KEY}, block_time, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount, program, confidence, quote_mismatch, value_lamports`

/**
 * Stores the swaps of some wallets that are about to be deleted by a withdrawal: those that sockets
 * may have received before it. Call it before anything of the slot is deleted. Repeated, it stores
 * nothing, because later swaps of the slot replace the withdrawn ones.
 */
export async function insertWithdrawnSwaps(
  store: Store,
  {
    slot,
    blockId,
    ...place
  }: LatePlace & { readonly slot: number; readonly blockId: BlockId | null },
  wallets: readonly number[],
): Promise<void> {
  if (wallets.length === 0) return
  const { epoch, passedSlot, partition, offset } = place
  const at = `(${epoch}, ${passedSlot}, ${partition}, ${offset})`
  const late = `SELECT ${EVENT_KEY}, passed_slot, offset, block_id FROM late_swaps FINAL
    WHERE slot = {slot:UInt64} AND epoch = ${epoch} AND partition = ${partition}`
  await store.command(
    `INSERT INTO withdrawn_swaps (${PLACE}, ${SERVED}, block_id, late_passed_slot, late_offset)
     SELECT ${epoch}, ${passedSlot}, ${partition}, ${offset}, ${SERVED},
       if(l.is_late, l.block_id, ${blockId === null ? 'NULL' : `toUInt64(${blockId})`}),
       if(l.is_late, l.passed_slot, NULL), if(l.is_late, l.offset, NULL)
     FROM (
       SELECT * FROM (
         SELECT ${SERVED}, late, is_deleted FROM swaps WHERE slot = {slot:UInt64} AND wallet IN (${wallets.join(', ')})
         ORDER BY ${EVENT_KEY}, version DESC LIMIT 1 BY ${EVENT_KEY}
       ) WHERE is_deleted = 0 AND late != 'backfill'
     ) AS s LEFT JOIN (SELECT *, true AS is_late FROM (${late})) AS l USING (${EVENT_KEY})
     WHERE (NOT l.is_late OR (l.passed_slot, l.offset) < (${passedSlot}, ${offset}))
       AND (SELECT count() FROM withdrawn_swaps WHERE slot = {slot:UInt64} AND (${PLACE}) = ${at}) = 0`,
    { slot },
  )
}

/** Withdrawals read together: each has all swaps of a slot on a partition. */
const WITHDRAWALS_PER_PAGE = 16

/**
 * Returns the swaps of the first withdrawals after `from` and before the slot of `to`, in the order
 * of the withdrawals. `isLast`: there are no more.
 */
export async function readWithdrawnSwaps(
  store: Store,
  from: LateBound,
  to: Pick<LateBound, 'epoch' | 'passedSlot'>,
): Promise<{ readonly swaps: readonly WithdrawnSwap[]; readonly isLast: boolean }> {
  const swaps = await readRows(
    store,
    `(${PLACE}) IN (SELECT DISTINCT ${PLACE} FROM withdrawn_swaps WHERE ${isBetween(from, to)}
       ORDER BY ${PLACE} LIMIT ${WITHDRAWALS_PER_PAGE})`,
  )
  const places = new Set(
    swaps.map(({ mark }) => `${mark.passedSlot}/${mark.partition}/${mark.offset}`),
  )
  return { swaps, isLast: places.size < WITHDRAWALS_PER_PAGE }
}

/** A withdrawn swap of a token: its key, block and times in unix seconds. */
export interface WithdrawnTokenSwap {
  readonly key: EventKey
  readonly blockId: BlockId | null
  readonly mint: string
  readonly blockTime: number
  readonly withdrawnAt: number
}

/** Returns the withdrawn swaps of some tokens since a block time, in event-key order. */
export async function readWithdrawnSince(
  store: Store,
  mints: readonly string[],
  since: number,
): Promise<WithdrawnTokenSwap[]> {
  if (mints.length === 0) return []
  const rows = await store.query<
    EventKeyRow & { readonly block_id: string | null; readonly base_mint: string } & Readonly<
        Record<'block_time' | 'withdrawn_at', number>
      >
  >(
    `SELECT ${EVENT_KEY}, block_id, base_mint, block_time, toUnixTimestamp(inserted_at) AS withdrawn_at
     FROM withdrawn_swaps FINAL
     WHERE base_mint IN {mints:Array(String)} AND block_time > {since:UInt32}
     ORDER BY ${EVENT_KEY} LIMIT 10000`,
    { mints, since: Math.max(0, since) },
  )
  return rows.map((row) => ({
    key: keyOf(row),
    blockId: row.block_id === null ? null : BigInt(row.block_id),
    mint: row.base_mint,
    blockTime: row.block_time,
    withdrawnAt: row.withdrawn_at,
  }))
}

/** Returns the place of the newest late swap or withdrawal before a slot; null if there is none. */
export async function readNewestPlace(
  store: Store,
  before: Pick<LateBound, 'epoch' | 'passedSlot'>,
): Promise<LatePlace | null> {
  const [late, [row]] = await Promise.all([
    readNewestLatePlace(store, before),
    store.query<PlaceRow>(
      `SELECT ${PLACE} FROM withdrawn_swaps WHERE ${isPlaceBefore(before)} ORDER BY ${NEWEST} LIMIT 1`,
    ),
  ])
  const withdrawn = row === undefined ? null : placeOf(row)
  if (late === null || withdrawn === null) return late ?? withdrawn
  return compareLatePlaces(late, withdrawn) > 0 ? late : withdrawn
}

type WithdrawnRow = PlaceRow &
  Omit<SwapRow, 'version' | 'is_deleted'> &
  Readonly<Record<'block_id' | 'late_passed_slot' | 'late_offset', string | null>>

async function readRows(store: Store, where: string): Promise<WithdrawnSwap[]> {
  const rows = await store.query<WithdrawnRow>(
    `SELECT ${PLACE}, ${SERVED}, block_id, late_passed_slot, late_offset FROM withdrawn_swaps FINAL
     WHERE ${where} ORDER BY ${PLACE}, ${EVENT_KEY} LIMIT 1000000`,
  )
  return rows.map((row) => {
    const mark = placeOf(row)
    const { late_passed_slot: passed, late_offset: offset, block_id: blockId } = row
    return {
      key: keyOf(row),
      swap: swapOfRow({ ...row, version: '0', is_deleted: 0 }),
      blockId: blockId === null ? null : BigInt(blockId),
      mark,
      lateMark:
        passed === null || offset === null
          ? null
          : { ...mark, passedSlot: Number(passed), offset: Number(offset) },
    }
  })
}
