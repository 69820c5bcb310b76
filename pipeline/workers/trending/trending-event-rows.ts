import { compareEventKeys } from '../../domain/event-key.ts'
import type { TrendingEvent } from '../../trending/trending-event.ts'
import type { FoldRow } from '../fold/stored-events.ts'

/** The key columns of an event. */
export interface KeyRow {
  readonly slot: string
  readonly tx_index: number
  readonly wallet: number
  readonly event_index: number
}

/** A row of `swaps` or `transfers`, as the trending engine needs it. */
export interface EventRow extends FoldRow {
  readonly kind: TrendingEvent['kind']
  readonly pool: string
  readonly version: string
  readonly is_deleted: number
}

/** Returns the key of a row as text. */
export function keyText({ slot, tx_index, wallet, event_index }: KeyRow): string {
  return `${slot}/${tx_index}/${wallet}/${event_index}`
}

/** Returns the key columns of an event. */
export function keyRowOf({ slot, txIndex, wallet, eventIndex }: TrendingEvent): KeyRow {
  return { slot: String(slot), tx_index: txIndex, wallet, event_index: eventIndex }
}

/** Returns the events of rows of both tables, in event-key order. */
export function eventsOf(
  swaps: readonly EventRow[],
  transfers: readonly EventRow[],
): TrendingEvent[] {
  return [...newestOf(swaps), ...newestOf(transfers)].sort(compareEventKeys)
}

/** Of the rows of one key the highest version counts; none does when that one is a tombstone. */
function newestOf(rows: readonly EventRow[]): TrendingEvent[] {
  const newest = new Map<string, EventRow>()
  for (const row of rows) {
    const key = keyText(row)
    const known = newest.get(key)
    if (known === undefined || BigInt(row.version) > BigInt(known.version)) newest.set(key, row)
  }
  const events: TrendingEvent[] = []
  for (const row of newest.values()) if (row.is_deleted === 0) events.push(eventOf(row))
  return events
}

/**
 * Lists every field, because an object made with a spread is several times slower to create and
 * use.
 */
function eventOf(row: EventRow): TrendingEvent {
  return {
    slot: Number(row.slot),
    txIndex: row.tx_index,
    wallet: row.wallet,
    eventIndex: row.event_index,
    blockTime: row.block_time,
    kind: row.kind,
    mint: row.mint,
    decimals: row.decimals,
    amount: BigInt(row.amount),
    value: row.value === null ? null : BigInt(row.value),
    solPriceUsdE9: row.price === null ? null : BigInt(row.price),
    pool: row.pool,
  }
}
