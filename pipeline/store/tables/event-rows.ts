import type { EventKey } from '../../domain/event-key.ts'

/** The key columns of an event, in event-key order. */
export const EVENT_KEY = 'slot, tx_index, wallet, event_index'

/** The key columns of a row. */
export interface EventKeyRow {
  readonly slot: string
  readonly tx_index: number
  readonly wallet: number
  readonly event_index: number
}

/** Returns the event key of a row. */
export function keyOf(row: EventKeyRow): EventKey {
  return {
    slot: Number(row.slot),
    txIndex: row.tx_index,
    wallet: row.wallet,
    eventIndex: row.event_index,
  }
}

/** Returns the `eventKeyText` of a row's key. */
export function rowKeyText({ slot, tx_index, wallet, event_index }: EventKeyRow): string {
  return `${slot}/${tx_index}/${wallet}/${event_index}`
}

/** Returns a key as a tuple in SQL. */
export function keyTuple({ slot, txIndex, wallet, eventIndex }: EventKey): string {
  return `(${slot}, ${txIndex}, ${wallet}, ${eventIndex})`
}

/** Returns the row with the highest version of each key, whether or not it is a tombstone. */
export function newestBy<R extends { readonly version: string }>(
  rows: readonly R[],
  textOf: (row: R) => string,
): Map<string, R> {
  const newest = new Map<string, R>()
  for (const row of rows) {
    const key = textOf(row)
    const known = newest.get(key)
    if (known === undefined || BigInt(row.version) > BigInt(known.version)) newest.set(key, row)
  }
  return newest
}

/** Returns the row with the highest version of each event, tombstones included, in order. */
export function newestVersions<R extends EventKeyRow & { readonly version: string }>(
  rows: readonly R[],
): R[] {
  return [...newestBy(rows, rowKeyText).values()]
}

/** Kinds of events. */
type EventKind = 'buy' | 'sell' | 'token_in' | 'token_out' | 'sol_in' | 'sol_out'

/** A stored event: its key, its block time in unix seconds, and `EVENT_COLUMNS`. */
export interface EventRow<K extends EventKind = EventKind> extends EventKeyRow {
  readonly block_time: number
  readonly kind: K
  readonly mint: string
  readonly decimals: number
  readonly amount: string
  readonly value: string | null
  readonly price: string | null
  /** Absent in queries that do not select it. */
  readonly pool?: string
}

const NO_VALUE = `CAST(NULL, 'Nullable(UInt128)') AS value, CAST(NULL, 'Nullable(UInt64)') AS price`

/** The columns of each event table, in one form for all of them. */
export const EVENT_COLUMNS = {
  swaps: `toString(side) AS kind, base_mint AS mint, base_decimals AS decimals, base_amount AS amount, value_lamports AS value, sol_price_usd_e9 AS price`,
  transfers: `if(direction = 'in', 'token_in', 'token_out') AS kind, mint, decimals, amount, ${NO_VALUE}`,
  sol_transfers: `if(direction = 'in', 'sol_in', 'sol_out') AS kind, '' AS mint, toUInt8(9) AS decimals, toUInt128(lamports) AS amount, ${NO_VALUE}`,
} as const

/**
 * Returns the event of a row. `pool` is '' where the query has none. Lists every field, because an
 * object made with a spread is several times slower to create and use.
 */
export function eventOf<K extends EventKind>(row: EventRow<K>) {
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
    pool: row.pool ?? '',
  }
}

/** An event as `eventOf` returns it. Amounts are raw units, or lamports for SOL. */
export type StoredEvent = ReturnType<typeof eventOf>
