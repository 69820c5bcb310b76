import { compareEventKeys, type EventKey } from '../../pipeline/domain/event-key.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { PublishedSwap } from '../items/trade.ts'
import { type SwapRow, swapOfRow } from './swap-row.ts'

/**
 * The newest `limit` swaps up to slot `stored`, strictly older than `before` where it is given, newest first.
 *
 * A swap may be stored several times until a merge: of the rows of one key the newest version counts, and none when that one is deleted. They lie
 * side by side in the table's order, so this reads the end of the table alone; letting ClickHouse pick them (`LIMIT 1 BY`, or a sort by version
 * too) reads all of it: 190 ms instead of 8 ms over 3 million rows.
 */
export async function readNewestSwaps(
  store: Store,
  stored: number,
  before: EventKey | null,
  limit: number,
): Promise<(PublishedSwap & EventKey)[]> {
  const swaps: (PublishedSwap & EventKey)[] = []
  let position = before
  for (let rowLimit = limit + SPARE; ; ) {
    const rows = await readPage(store, stored, position, rowLimit)
    const groups = byKey(rows)
    // The rows of the last key may go on beyond the page.
    const complete = rows.length < rowLimit ? groups : groups.slice(0, -1)
    for (const versions of complete) {
      const newest = versions.reduce((a, b) => (BigInt(b.version) > BigInt(a.version) ? b : a))
      if (newest.is_deleted === 0) swaps.push(swapOfRow(newest))
    }
    if (swaps.length >= limit || rows.length < rowLimit) return swaps.slice(0, limit)
    const last = complete.at(-1)?.[0]
    if (last === undefined) rowLimit *= 2
    else position = swapOfRow(last)
  }
}

/** Rows beyond the page that are read for those that do not count. */
const SPARE = 20

interface VersionedRow extends SwapRow {
  readonly version: string
  readonly is_deleted: number
}

function readPage(store: Store, stored: number, before: EventKey | null, limit: number) {
  if (before === null) return store.query<VersionedRow>(NEWEST, { stored, limit })
  const { slot, txIndex, wallet, eventIndex } = before
  return store.query<VersionedRow>(OLDER, { stored, slot, txIndex, wallet, eventIndex, limit })
}

function byKey(rows: readonly VersionedRow[]): VersionedRow[][] {
  const groups: VersionedRow[][] = []
  let key: EventKey | null = null
  for (const row of rows) {
    const next = swapOfRow(row)
    if (key !== null && compareEventKeys(key, next) === 0) groups.at(-1)?.push(row)
    else groups.push([row])
    key = next
  }
  return groups
}

const page = (condition: string) => `
  SELECT slot, tx_index, wallet, event_index, block_time, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount, program,
    version, is_deleted
  FROM swaps WHERE slot <= {stored:UInt64} ${condition}
  ORDER BY slot DESC, tx_index DESC, wallet DESC, event_index DESC LIMIT {limit:UInt32}`
const NEWEST = page('')
// The first condition says to the primary key what the second one means.
const OLDER = page(
  'AND slot <= {slot:UInt64} AND (slot, tx_index, wallet, event_index) < ({slot:UInt64}, {txIndex:UInt32}, {wallet:UInt32}, {eventIndex:UInt32})',
)
