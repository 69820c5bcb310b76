import type { BlockId } from '../../pipeline/domain/block-id.ts'
import { compareEventKeys, type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { keyOf, newestVersions } from '../../pipeline/store/tables/event-rows.ts'
import {
  compareLatePlaces,
  type LatePlace,
  type LateRow,
  readLate,
  readPlaces,
} from '../../pipeline/store/tables/late-swaps.ts'
import { readBlockIds } from '../../pipeline/store/tables/sealed-slots.ts'
import { readGaps } from '../../pipeline/store/tables/slot-gaps.ts'
import {
  type LateSwapRow,
  readSwapRows,
  readSwapRowsAfter,
  type StoredSwap,
  swapOfRow,
} from '../../pipeline/store/tables/swaps.ts'
import {
  readNewestPlace,
  readWithdrawnSwaps,
  type WithdrawnSwap,
} from '../../pipeline/store/tables/withdrawn-swaps.ts'
import { endOfSlot, type LatePosition } from '../cursor.ts'
import type { Filter } from './filter.ts'

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
  /** With the block of each; null if its hash is not known. */
  readonly swaps: (StoredSwap & { readonly blockId: BlockId | null })[]
  readonly gaps: { readonly fromSlot: number; readonly toSlot: number }[]
  readonly end: EventKey
}> {
  const { after, toSlot, filter } = of
  for (let limit = of.limit; ; limit *= 2) {
    const [rows, allGaps] = await Promise.all([
      readSwapRowsAfter(store, { after, toSlot, limit, ...filter }),
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
    return { swaps: await withBlocks(store, complete.filter(isServed)), gaps, end }
  }
}

/** Reads stored swaps of these keys, by `eventKeyText`; backfilled history is left out. */
export async function readSwapsOf(
  store: Store,
  keys: readonly EventKey[],
): Promise<Map<string, StoredSwap>> {
  const swaps = (await readSwapRows(store, keys)).filter(isServed).map(swapOfRow)
  return new Map(swaps.map((swap) => [eventKeyText(swap), swap]))
}

/** Late swaps relative to a position among them. */
export interface LateKeys {
  /** Late swaps after the position, as `eventKeyText`. */
  readonly unsettled: ReadonlySet<string>
  /** Place of the newest late swap or withdrawal before the position. */
  readonly newest: LatePlace | null
}

/**
 * Reads late swaps relative to `late`. Call it after reading swaps: it then includes each late one
 * of them.
 */
export async function readLateKeys(store: Store, late: LatePosition): Promise<LateKeys> {
  const [unsettled, newest] = await Promise.all([
    readLate(store, late, null, MAX_UNSETTLED),
    readNewestPlace(store, late),
  ])
  return {
    unsettled: new Set(unsettled.map(({ key }) => eventKeyText(key))),
    newest,
  }
}

/** Bound of late swaps beyond the storage marker: a few, unless storage is far behind. */
const MAX_UNSETTLED = 100_000

function isServed({ is_deleted, late }: LateSwapRow): boolean {
  return is_deleted === 0 && late !== 'backfill'
}

/** An entry in the order of late ones, at the place `mark`: a late swap, or a withdrawn one. */
export type LateEntryRow =
  | ({ readonly kind: 'late' } & LateRow)
  | ({ readonly kind: 'withdrawn' } & WithdrawnSwap)

/** Late swaps read together. */
const LATE_PER_PAGE = 256

/**
 * Reads the first late swaps and withdrawals after `from` and before the slot of `to`, in the order
 * of their places. A withdrawal is read as a whole. `isLast`: there are no more.
 */
export async function readLateRows(
  store: Store,
  from: LatePosition,
  to: LatePosition,
): Promise<{ readonly rows: readonly LateEntryRow[]; readonly isLast: boolean }> {
  const [late, withdrawn] = await Promise.all([
    readLate(store, from, to, LATE_PER_PAGE),
    readWithdrawnSwaps(store, from, to),
  ])
  const isFull = late.length === LATE_PER_PAGE
  const lateRows = late.map((row): LateEntryRow => ({ kind: 'late', ...row }))
  const voidRows = withdrawn.swaps.map((row): LateEntryRow => ({ kind: 'withdrawn', ...row }))
  // Nothing is known of what follows the end of a list that goes on, so the other is cut there.
  const ends = [
    ...(isFull ? lateRows.slice(-1) : []),
    ...(withdrawn.isLast ? [] : voidRows.slice(-1)),
  ]
  const rows = [...lateRows, ...voidRows]
    .filter(({ mark }) => ends.every((end) => compareLatePlaces(mark, end.mark) <= 0))
    .sort((a, b) => compareLatePlaces(a.mark, b.mark))
  return { rows, isLast: ends.length === 0 }
}

async function withBlocks(store: Store, rows: readonly LateSwapRow[]) {
  const late = rows.filter(({ late }) => late === 'stream').map(keyOf)
  const slots = rows.filter(({ late }) => late === 'no').map(({ slot }) => Number(slot))
  const [sealed, places] = await Promise.all([
    readBlockIds(store, [...new Set(slots)]),
    late.length === 0 ? [] : readPlaces(store, late),
  ])
  const lateBlocks = new Map(places.map(({ key, blockId }) => [eventKeyText(key), blockId]))
  return rows.map((row) => {
    const swap = swapOfRow(row)
    const block = row.late === 'no' ? sealed.get(swap.slot) : lateBlocks.get(eventKeyText(swap))
    return { ...swap, blockId: block ?? null }
  })
}
