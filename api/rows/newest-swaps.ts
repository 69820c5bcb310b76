import type { Address } from '../../pipeline/domain/address.ts'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { newestVersions } from '../../pipeline/store/tables/event-rows.ts'
import {
  readNewestSwapRows,
  type StoredSwap,
  type SwapRow,
  swapOfRow,
  withoutMovedRows,
} from '../../pipeline/store/tables/swaps.ts'

/**
 * Reads the newest `limit` swaps up to slot `stored`, newest first; only of one mint if given, and
 * strictly older than `before` if given.
 *
 * A key may have several rows until a merge: the highest version counts, and none if that one is
 * deleted. This function selects it, because the rows of a key are adjacent in the table's order,
 * so only the end of the table is read. Selecting in ClickHouse (`LIMIT 1 BY`, or sorting by
 * version too) reads the whole table.
 *
 * Rows of a mint come from projection `by_mint`, where a row stays under its old mint until a merge
 * after a redecode changed its mint. So after a redecode (`wasRedecoded`) corrected rows are looked
 * up by key.
 */
export async function readNewestSwaps(
  store: Store,
  stored: number,
  before: EventKey | null,
  limit: number,
  of: { readonly mint: Address; readonly wasRedecoded: boolean } | null = null,
): Promise<StoredSwap[]> {
  const swaps: StoredSwap[] = []
  const pages = newestSwapRows(store, { stored, mint: of?.mint ?? null }, before, limit)
  for await (const found of pages) {
    const current = of?.wasRedecoded ? await withoutMovedRows(store, found) : found
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
  of: { readonly stored: number; readonly mint: Address | null },
  before: EventKey | null,
  limit: number,
): AsyncGenerator<readonly SwapRow[]> {
  let position = before
  for (let rowLimit = limit + SPARE; ; ) {
    const rows = await readNewestSwapRows(store, of.stored, position, rowLimit, of.mint)
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
