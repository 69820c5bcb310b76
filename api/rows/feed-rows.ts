import { compareEventKeys, type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { keyOf, newestVersions } from '../../pipeline/store/tables/event-rows.ts'
import { type LateRow, readLate, readNewestLate } from '../../pipeline/store/tables/late-swaps.ts'
import { readGaps } from '../../pipeline/store/tables/slot-gaps.ts'
import {
  type LateSwapRow,
  readRowsAfter,
  readSwapRows,
  type StoredSwap,
  swapOfRow,
} from '../../pipeline/store/tables/swaps.ts'
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
  readonly swaps: StoredSwap[]
  readonly gaps: { readonly fromSlot: number; readonly toSlot: number }[]
  readonly end: EventKey
}> {
  const { after, toSlot, filter } = of
  for (let limit = of.limit; ; limit *= 2) {
    const [rows, allGaps] = await Promise.all([
      readRowsAfter(store, { after, toSlot, limit, ...filter }),
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
  const swaps = served(await readSwapRows(store, keys))
  return new Map(swaps.map((swap) => [eventKeyText(swap), swap]))
}

/** Late swaps relative to a position among them. */
export interface LateKeys {
  /** Late swaps after the position, as `eventKeyText`. */
  readonly unsettled: ReadonlySet<string>
  /** The newest late swap before the position. */
  readonly newest: LateRow['mark'] | null
}

/**
 * Reads late swaps relative to `late`. Call it after reading swaps: it then includes each late one
 * of them.
 */
export async function readLateKeys(store: Store, late: LatePosition): Promise<LateKeys> {
  const [unsettled, newest] = await Promise.all([
    readLate(store, late, null, MAX_UNSETTLED),
    readNewestLate(store, late),
  ])
  return {
    unsettled: new Set(unsettled.map(({ key }) => eventKeyText(key))),
    newest: newest?.mark ?? null,
  }
}

/** Bound of late swaps beyond the storage marker: a few, unless storage is far behind. */
const MAX_UNSETTLED = 100_000

function served(newest: readonly LateSwapRow[]): StoredSwap[] {
  return newest
    .filter(({ is_deleted, late }) => is_deleted === 0 && late !== 'backfill')
    .map(swapOfRow)
}
