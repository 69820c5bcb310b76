import type { Address } from '../../pipeline/domain/address.ts'
import { type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { Store } from '../../pipeline/store/store.ts'
import {
  newestVersions,
  type StoredSwap,
  SWAP_COLUMNS,
  type SwapRow,
  swapOfRow,
} from './swap-row.ts'

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
  const mint = of?.mint ?? null
  const swaps: StoredSwap[] = []
  let position = before
  for (let rowLimit = limit + SPARE; ; ) {
    const rows = await readPage(store, stored, position, rowLimit, mint)
    const newest = newestVersions(rows)
    // The last key may have more rows after the page.
    const found = rows.length < rowLimit ? newest : newest.slice(0, -1)
    const corrected = of?.wasRedecoded ? await readCorrected(store, found) : NONE
    for (const row of found) {
      const version = corrected.get(eventKeyText(swapOfRow(row))) ?? 0n
      if (row.is_deleted === 0 && version <= BigInt(row.version)) swaps.push(swapOfRow(row))
    }
    if (swaps.length >= limit || rows.length < rowLimit) return swaps.slice(0, limit)
    const last = found.at(-1)
    if (last === undefined) rowLimit *= 2
    else position = swapOfRow(last)
  }
}

/** Extra rows per query, to make up for rows that do not count. */
const SPARE = 20

function readPage(
  store: Store,
  stored: number,
  before: EventKey | null,
  limit: number,
  mint: Address | null,
) {
  return store.query<SwapRow>(page(before !== null, mint !== null), {
    stored,
    limit,
    ...(before && { ...before }),
    ...(mint && { mint }),
  })
}

/**
 * Reads the highest version of each swap that was corrected, in the slots of `rows` and of any
 * mint, by the text of its key.
 */
async function readCorrected(store: Store, rows: readonly SwapRow[]): Promise<Map<string, bigint>> {
  if (rows.length === 0) return new Map()
  const slots = [...new Set(rows.map((row) => Number(row.slot)))]
  const corrected = await store.query<Corrected>(CORRECTED, { slots })
  return new Map(
    corrected.map(({ slot, tx_index, wallet, event_index, newest }) => [
      eventKeyText({ slot: Number(slot), txIndex: tx_index, wallet, eventIndex: event_index }),
      BigInt(newest),
    ]),
  )
}

const NONE: ReadonlyMap<string, bigint> = new Map()

interface Corrected extends Pick<SwapRow, 'slot' | 'tx_index' | 'wallet' | 'event_index'> {
  readonly newest: string
}

// Index `corrected` skips parts without corrected rows. A slot has a few thousand transactions, and
// a transaction at most 64 accounts.
const CORRECTED = `
  SELECT slot, tx_index, wallet, event_index, max(version) AS newest FROM swaps WHERE version > 0 AND slot IN {slots:Array(UInt64)}
  GROUP BY slot, tx_index, wallet, event_index LIMIT 1000000`

const page = (isOlder: boolean, isOfMint: boolean) => `
  SELECT ${SWAP_COLUMNS}
  FROM swaps WHERE slot <= {stored:UInt64} ${isOfMint ? 'AND base_mint = {mint:String}' : ''} ${isOlder ? OLDER : ''}
  ORDER BY ${isOfMint ? 'base_mint DESC, ' : ''}slot DESC, tx_index DESC, wallet DESC, event_index DESC LIMIT {limit:UInt32}
  SETTINGS max_threads = 1, read_in_order_use_virtual_row = 1, ${isOfMint ? "preferred_optimize_projection_name = 'by_mint'" : 'optimize_use_projections = 0'}`
// The first condition is implied by the second, and lets ClickHouse use the primary key.
const OLDER =
  'AND slot <= {slot:UInt64} AND (slot, tx_index, wallet, event_index) < ({slot:UInt64}, {txIndex:UInt32}, {wallet:UInt32}, {eventIndex:UInt32})'
