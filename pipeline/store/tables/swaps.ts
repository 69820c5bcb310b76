import type { Address } from '../../domain/address.ts'
import type { Swap } from '../../domain/event.ts'
import type { EventKey } from '../../domain/event-key.ts'
import { batches } from '../../runtime/batches.ts'
import type { Row, Store } from '../store.ts'
import { EVENT_KEY, type EventKeyRow, keyTuple, newestVersions, rowKeyText } from './event-rows.ts'

// The table is ordered by event key. Projection `by_mint` has these columns ordered by mint, and
// `by_wallet` has those of the fold ordered by wallet (`infra/decisions/read-orders.md`).

/** The columns that are read for serving, with those that tell versions apart. */
const COLUMNS = `slot, tx_index, wallet, event_index, block_time, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount,
    program, confidence, quote_mismatch, value_lamports, version, is_deleted`

/** The columns of `LateSwapRow`. */
export const SWAP_COLUMNS = `${COLUMNS}, late`

/**
 * A row of table `swaps`. Integers of 64 bits and more are decimal strings. The highest version of
 * a key counts; if it is deleted, the key has no swap.
 */
export interface SwapRow extends EventKeyRow {
  readonly block_time: number
  readonly side: 'buy' | 'sell'
  readonly base_mint: string
  readonly base_amount: string
  readonly base_decimals: number
  readonly quote_mint: string | null
  readonly quote_amount: string
  readonly program: string
  readonly confidence: 'high' | 'delta_only'
  readonly quote_mismatch: boolean
  readonly value_lamports: string | null
  readonly version: string
  readonly is_deleted: number
}

/** A swap row, whether the swap was late, and its source. */
export type LateSwapRow = SwapRow & { readonly late: 'no' | 'stream' | 'backfill' }

/** A stored swap, as `COLUMNS` selects it. */
export type StoredSwap = {
  readonly version: bigint
  /** Value by rule C1; null while it has none. */
  readonly valueLamports: bigint | null
} & Omit<Swap, 'kind' | 'signature' | 'programId' | 'pool' | 'feeLamports' | 'solPriceUsdE9'>

/** Returns a row to insert in the form in which it is read. */
export function swapRowOf(row: Row): LateSwapRow {
  const { slot, base_amount, quote_amount, value_lamports, version = 0, is_deleted = 0 } = row
  return {
    slot: String(slot),
    tx_index: row.tx_index,
    wallet: row.wallet,
    event_index: row.event_index,
    block_time: row.block_time,
    side: row.side,
    base_mint: row.base_mint,
    base_amount: String(base_amount),
    base_decimals: row.base_decimals,
    quote_mint: row.quote_mint,
    quote_amount: String(quote_amount),
    program: row.program,
    confidence: row.confidence,
    quote_mismatch: row.quote_mismatch,
    value_lamports: value_lamports === null ? null : String(value_lamports),
    version: String(version),
    is_deleted,
    late: row.late,
  } as LateSwapRow // of the columns' types
}

/** Converts a row. */
export function swapOfRow(row: SwapRow): StoredSwap {
  return {
    slot: Number(row.slot),
    txIndex: row.tx_index,
    wallet: row.wallet,
    eventIndex: row.event_index,
    blockTime: row.block_time,
    side: row.side,
    baseMint: row.base_mint as Address, // was validated before it was stored
    baseAmount: BigInt(row.base_amount),
    baseDecimals: row.base_decimals,
    quoteMint: row.quote_mint as Address | null, // also validated
    quoteAmount: BigInt(row.quote_amount),
    program: row.program,
    confidence: row.confidence,
    quoteMismatch: row.quote_mismatch,
    valueLamports: row.value_lamports === null ? null : BigInt(row.value_lamports),
    version: BigInt(row.version),
  }
}

/** Which swaps are read. Without a field, any value matches. */
export interface SwapFilter {
  readonly wallet?: number | null
  readonly mint?: Address | null
  readonly side?: 'buy' | 'sell' | null
  /** Block time, unix seconds: at or after, and before. */
  readonly from?: number | null
  readonly to?: number | null
}

/**
 * Returns the newest `limit` rows up to slot `stored` that match the filter, newest first, and
 * strictly older than `before`, if given. All versions of a key that match are returned, one after
 * the other.
 */
export function readNewestSwapRows(
  store: Store,
  stored: number,
  before: EventKey | null,
  limit: number,
  filter: SwapFilter,
): Promise<SwapRow[]> {
  const { wallet: ofWallet = null, mint = null, side = null, from = null, to = null } = filter
  const given = Object.entries({ ofWallet, mint, side, from, to }).filter(([, v]) => v !== null)
  const names = given.map(([name]) => name as keyof typeof CONDITIONS)
  return store.query<SwapRow>(newestRows(names, before !== null), {
    stored,
    limit,
    ...Object.fromEntries(given),
    ...before,
  })
}

const CONDITIONS = {
  ofWallet: 'wallet = {ofWallet:UInt32}',
  mint: 'base_mint = {mint:String}',
  side: 'side = {side:String}',
  from: 'block_time >= {from:UInt32}',
  to: 'block_time < {to:UInt32}',
} as const

/** Rows are read in the order of the wallet, else of the mint, else of the table. */
function newestRows(names: readonly (keyof typeof CONDITIONS)[], isOlder: boolean): string {
  const conditions = ['slot <= {stored:UInt64}', ...names.map((name) => CONDITIONS[name])]
  if (isOlder) conditions.push(OLDER)
  const projection = names.includes('ofWallet')
    ? { name: 'by_wallet', first: 'wallet DESC, ' }
    : names.includes('mint')
      ? { name: 'by_mint', first: 'base_mint DESC, ' }
      : null
  const wallet = projection?.name === 'by_wallet' ? '' : 'wallet DESC, '
  return `
  SELECT ${COLUMNS}
  FROM swaps WHERE ${conditions.join(' AND ')}
  ORDER BY ${projection?.first ?? ''}slot DESC, tx_index DESC, ${wallet}event_index DESC LIMIT {limit:UInt32}
  SETTINGS max_threads = 1, read_in_order_use_virtual_row = 1, ${projection ? `preferred_optimize_projection_name = '${projection.name}'` : 'optimize_use_projections = 0'}`
}
// The first condition is implied by the second, and lets ClickHouse use the primary key.
const OLDER =
  'slot <= {slot:UInt64} AND (slot, tx_index, wallet, event_index) < ({slot:UInt64}, {txIndex:UInt32}, {wallet:UInt32}, {eventIndex:UInt32})'

/**
 * Returns the first `limit` rows strictly after `after` and up to slot `toSlot`, oldest first: of
 * the wallets and mints, if given. All versions of a key are returned, one after the other.
 */
export function readSwapRowsAfter(
  store: Store,
  of: {
    readonly after: EventKey
    readonly toSlot: number
    readonly limit: number
    readonly wallets: Iterable<number> | null
    readonly mints: Iterable<string> | null
  },
): Promise<LateSwapRow[]> {
  const { after, toSlot, limit, wallets, mints } = of
  // The first condition is implied by the third, and lets ClickHouse use the primary key. Reading
  // in the table's own order takes half the time.
  return store.query<LateSwapRow>(
    `SELECT ${COLUMNS}, late FROM swaps
     WHERE slot >= {slot:UInt64} AND slot <= {toSlot:UInt64}
       AND (${EVENT_KEY}) > ({slot:UInt64}, {txIndex:UInt32}, {wallet:UInt32}, {eventIndex:Int64})
       ${wallets ? 'AND wallet IN {wallets:Array(UInt32)}' : ''} ${mints ? 'AND base_mint IN {mints:Array(String)}' : ''}
     ORDER BY ${EVENT_KEY} LIMIT {limit:UInt32}
     SETTINGS optimize_use_projections = 0`,
    {
      ...after,
      toSlot,
      limit,
      ...(wallets && { wallets: [...wallets] }),
      ...(mints && { mints: [...mints] }),
    },
  )
}

/** Returns the row with the highest version of each of these keys, tombstones included. */
export async function readSwapRows(store: Store, keys: readonly EventKey[]) {
  if (keys.length === 0) return []
  const rows = await store.query<LateSwapRow>(
    `SELECT ${COLUMNS}, late FROM swaps
     WHERE slot IN {slots:Array(UInt64)} AND (${EVENT_KEY}) IN (${keys.map(keyTuple).join(', ')}) ORDER BY ${EVENT_KEY} LIMIT 100000`,
    { slots: [...new Set(keys.map(({ slot }) => slot))] },
  )
  return newestVersions(rows)
}

/** Returns slot and block time of the first swap at or after a slot. */
export async function readFirstSwap(store: Store, from: number) {
  const [row] = await store.query<{ slot: string; block_time: number }>(
    'SELECT slot, block_time FROM swaps WHERE slot >= {from:UInt64} ORDER BY slot, tx_index, wallet, event_index LIMIT 1',
    { from },
  )
  return row === undefined ? null : { slot: Number(row.slot), blockTime: row.block_time }
}

/** Slots in one query. */
const SLOTS_PER_QUERY = 5000

/**
 * Drops rows that are not the newest of their swap, because a redecode moved the swap to another
 * mint. Projection `by_mint` still has the old rows: see `infra/decisions/read-orders.md`.
 */
export async function withoutMovedRows<R extends EventKeyRow & { readonly version: string }>(
  store: Store,
  rows: readonly R[],
): Promise<R[]> {
  const newest = new Map<string, bigint>()
  const slots = [...new Set(rows.map(({ slot }) => Number(slot)))]
  // Index `corrected` skips parts without corrected rows. A slot has a few thousand transactions,
  // and a transaction at most 64 accounts.
  for (const some of batches(slots, SLOTS_PER_QUERY))
    for (const row of await store.query<EventKeyRow & { readonly newest: string }>(
      `SELECT ${EVENT_KEY}, max(version) AS newest FROM swaps WHERE version > 0 AND slot IN {slots:Array(UInt64)}
       GROUP BY ${EVENT_KEY} LIMIT 10000000`,
      { slots: some },
    ))
      newest.set(rowKeyText(row), BigInt(row.newest))
  return rows.filter((row) => BigInt(row.version) >= (newest.get(rowKeyText(row)) ?? 0n))
}

/**
 * Table expression with a condition that may go on with `AND`: the swaps of `{mints:Array(String)}`
 * up to slot `{stored:UInt64}`, with block times after `{from:UInt32}` and up to
 * `{through:UInt32}`. It has the event key, `base_mint`, `block_time` and `columns`.
 *
 * It reads projection `by_mint`. After a redecode, a row of it does not count that has a newer
 * version of another mint or time.
 */
export function swapsOfMints(columns: string, wasRedecoded: boolean): string {
  const rows = `swaps WHERE base_mint IN {mints:Array(String)} AND slot <= {stored:UInt64}
      AND block_time > {from:UInt32} AND block_time <= {through:UInt32}`
  const corrected = `LEFT JOIN (
    SELECT ${EVENT_KEY}, max(version) AS corrected_to FROM swaps
    WHERE version > 0 AND slot IN (SELECT slot FROM ${rows})
    GROUP BY ${EVENT_KEY}
  ) AS corrected USING (${EVENT_KEY})`
  return `(
    SELECT base_mint, ${EVENT_KEY}, block_time, version, is_deleted, ${columns} FROM ${rows}
    ORDER BY base_mint, ${EVENT_KEY}, version DESC LIMIT 1 BY base_mint, ${EVENT_KEY}
  ) AS found ${wasRedecoded ? corrected : ''}
  WHERE is_deleted = 0 ${wasRedecoded ? 'AND version >= corrected_to' : ''}`
}

/** Whether any stored swap was ever corrected. */
export async function hasCorrectedSwaps(store: Store): Promise<boolean> {
  return (await store.query('SELECT 1 AS one FROM swaps WHERE version > 0 LIMIT 1')).length > 0
}

/** Returns the mints swapped after slot `after` and up to slot `to`. */
export async function readSwappedMints(store: Store, after: number, to: number): Promise<string[]> {
  const rows = await store.query<{ mint: string }>(
    `SELECT DISTINCT base_mint AS mint FROM swaps WHERE slot > {from:UInt64} AND slot <= {to:UInt64} LIMIT 10000000
     SETTINGS optimize_use_projections = 0`,
    { from: Math.max(0, after), to: Math.max(0, to) },
  )
  return rows.map(({ mint }) => mint)
}

/** Subquery: wallet and mint of the swaps of the mints that another subquery returns. */
export const tradersOf = (mints: string) =>
  `SELECT wallet, base_mint FROM swaps WHERE is_deleted = 0 AND base_mint IN (${mints})`

/** Whether a wallet has swapped a mint. */
export async function hasTraded(store: Store, wallet: number, mint: string): Promise<boolean> {
  const rows = await store.query(
    'SELECT 1 FROM swaps WHERE wallet = {wallet:UInt32} AND base_mint = {mint:String} AND is_deleted = 0 LIMIT 1',
    { wallet, mint },
  )
  return rows.length > 0
}
