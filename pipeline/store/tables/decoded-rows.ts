import { insertRows } from '../insert-rows.ts'
import type { Row, Store } from '../store.ts'

const EVENT_KEY = ['slot', 'tx_index', 'wallet', 'event_index']

/** Key columns of the tables that hold records of the decoder, in the order of the table. */
const KEYS = {
  swaps: EVENT_KEY,
  transfers: EVENT_KEY,
  sol_transfers: EVENT_KEY,
  sol_balances: ['wallet', 'slot', 'tx_index'],
  undecoded: ['slot', 'tx_index', 'wallet'],
}

type DecodedTable = keyof typeof KEYS

/** Stores rows. The highest `version` of a key counts; a tombstone removes it. */
export function insertDecodedRows(store: Store, table: DecodedTable, rows: readonly Row[]) {
  return insertRows(store, table, rows)
}

/** Returns the table and key of a row as text. Integers may be numbers, bigints or strings. */
export function rowKey(table: DecodedTable, row: Row): string {
  return `${table}:${KEYS[table].map((column) => String(row[column])).join('/')}`
}

/** Returns the newest rows of some transactions: of these wallets, or of all if there are none. */
export function readDecodedRows(
  store: Store,
  table: DecodedTable,
  places: readonly { readonly slot: number; readonly txIndex: number }[],
  wallets: readonly number[],
): Promise<Row[]> {
  const slots = places.map(({ slot }) => slot)
  const list = places.map(({ slot, txIndex }) => `(${slot}, ${txIndex})`).join(', ')
  const key = KEYS[table].join(', ')
  return store.query<Row>(
    `SELECT * EXCEPT inserted_at FROM ${table}
     WHERE slot BETWEEN {from:UInt64} AND {to:UInt64} AND (slot, tx_index) IN (${list}) ${wallets.length === 0 ? '' : `AND wallet IN (${wallets.join(', ')})`}
     ORDER BY ${key}, version DESC LIMIT 1 BY ${key}`,
    { from: Math.min(...slots), to: Math.max(...slots) },
  )
}

/** Returns the wallets with rows in a slot, ascending. */
export async function findWalletsInSlot(store: Store, slot: number): Promise<number[]> {
  const found = new Set<number>()
  for (const [table, columns] of Object.entries(KEYS)) {
    const rows = await store.query<{ wallet: number }>(
      `SELECT DISTINCT wallet FROM (${newestOfSlot('wallet, is_deleted', table, columns)})
       WHERE is_deleted = 0 LIMIT 10000000`,
      { slot },
    )
    for (const { wallet } of rows) found.add(wallet)
  }
  return [...found].sort((a, b) => a - b)
}

/** Returns the slots after `slot` that have rows, ascending; 100,000 at most. */
export async function findSlotsAfter(store: Store, slot: number): Promise<number[]> {
  const tables = Object.keys(KEYS).map((table) => `SELECT slot FROM ${table} WHERE slot > ${slot}`)
  const rows = await store.query<{ slot: string }>(
    `SELECT DISTINCT slot FROM (${tables.join(' UNION ALL ')}) ORDER BY slot LIMIT 100000`,
  )
  return rows.map((row) => Number(row.slot))
}

// A column that REPLACE changes has its new value in WHERE too, so rows are selected first.

/** Deletes the rows of these wallets in a slot by tombstones. Rows already deleted stay. */
export async function voidRows(
  store: Store,
  table: DecodedTable,
  slot: number,
  wallets: readonly number[],
): Promise<void> {
  if (wallets.length === 0) return
  await store.command(
    `INSERT INTO ${table}
     SELECT * REPLACE (toUInt8(1) AS is_deleted, version + 1 AS version, now64(3) AS inserted_at)
     FROM (
       SELECT * FROM (${newestOfSlot('*', table, KEYS[table])})
       WHERE is_deleted = 0 AND wallet IN (${wallets.join(', ')})
     )`,
    { slot },
  )
}

/** The newest row of each key in slot `{slot:UInt64}`. */
function newestOfSlot(select: string, table: string, columns: readonly string[]): string {
  const key = columns.join(', ')
  return `SELECT ${select} FROM ${table} WHERE slot = {slot:UInt64}
       ORDER BY ${key}, version DESC LIMIT 1 BY ${key}`
}

/**
 * Returns the programs behind swaps that only balance changes show and behind undecoded
 * transactions, with the signature of the newest: the most recently seen first.
 */
export function readUnknownPrograms(store: Store): Promise<Row[]> {
  return store.query<Row>(UNKNOWN_PROGRAMS)
}

const UNKNOWN_PROGRAMS = `
  SELECT program_id, toUInt32(count()) AS events, argMax(signature, slot) AS sample_signature
  FROM (
    SELECT program_id, signature, slot FROM swaps FINAL WHERE confidence = 'delta_only'
    UNION ALL
    SELECT assumeNotNull(program_id), signature, slot FROM undecoded FINAL WHERE program_id IS NOT NULL
  )
  GROUP BY program_id
  ORDER BY max(slot) DESC, program_id
  LIMIT 10000`
