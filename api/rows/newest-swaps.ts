import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { newestVersions } from '../../pipeline/store/tables/event-rows.ts'
import {
  readNewestSwapRows,
  type StoredSwap,
  type SwapFilter,
  type SwapRow,
  swapOfRow,
  withoutMovedRows,
} from '../../pipeline/store/tables/swaps.ts'

/** Which swaps are read, up to a slot. */
export interface SwapsOf {
  /** Slot of the storage marker. */
  readonly stored: number
  readonly filter?: SwapFilter
  /** Whether stored swaps were ever corrected. */
  readonly wasRedecoded?: boolean
}

/**
 * Reads the newest `limit` swaps that match, newest first; strictly older than `before` if given.
 *
 * A key may have several rows until a merge: the highest version counts, and none if that one is
 * deleted. This function selects it, because the rows of a key are adjacent in the table's order,
 * so only the end of the table is read. Selecting in ClickHouse (`LIMIT 1 BY`, or sorting by
 * version too) reads the whole table.
 *
 * A corrected row may match no longer what its former version matches: another mint, say, under
 * which projection `by_mint` still has that version. So after a redecode (`wasRedecoded`) corrected
 * rows are looked up by key. Only the wallet is part of the key.
 */
export async function readNewestSwaps(
  store: Store,
  { stored, filter = {}, wasRedecoded = false }: SwapsOf,
  before: EventKey | null,
  limit: number,
): Promise<StoredSwap[]> {
  const { wallet: _, ...others } = filter
  const mayHaveMoved = wasRedecoded && Object.values(others).some((value) => value !== null)
  const swaps: StoredSwap[] = []
  for await (const found of newestSwapRows(store, { stored, filter }, before, limit)) {
    const current = mayHaveMoved ? await withoutMovedRows(store, found) : found
    for (const row of current) if (row.is_deleted === 0) swaps.push(swapOfRow(row))
    if (swaps.length >= limit) break
  }
  return swaps.slice(0, limit)
}

/**
 * Yields pages of some `limit` rows, newest first: the highest version of each key, also if it is
 * deleted.
 */
export async function* newestSwapRows(
  store: Store,
  { stored, filter = {} }: Omit<SwapsOf, 'wasRedecoded'>,
  before: EventKey | null,
  limit: number,
): AsyncGenerator<readonly SwapRow[]> {
  let position = before
  for (let rowLimit = limit + SPARE; ; ) {
    const rows = await readNewestSwapRows(store, stored, position, rowLimit, filter)
    const newest = newestVersions(rows)
    // The last key may have more rows after the page.
    const found = rows.length < rowLimit ? newest : newest.slice(0, -1)
    if (found.length > 0) yield found
    if (rows.length < rowLimit) return
    const last = found.at(-1)
    if (last === undefined) rowLimit *= 2
    else position = swapOfRow(last)
  }
}

/** Extra rows per query, to make up for rows that do not count. */
const SPARE = 20
