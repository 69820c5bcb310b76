import { batches } from '../../runtime/batches.ts'
import { insertRows } from '../insert-rows.ts'
import type { Row, Store } from '../store.ts'

const EVENT_KEY = ['slot', 'tx_index', 'wallet', 'event_index']

/** Key columns of the tables that hold records of the decoder, in the order of the table. */
const KEYS = {
  swaps: EVENT_KEY,
  transfers: EVENT_KEY,
  sol_transfers: EVENT_KEY,
  sol_balances: ['wallet', 'slot', 'tx_index'],
  token_links: ['wallet', 'account', 'slot', 'tx_index'],
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

/** The newest row of a key: its table and key, and which decoder made it. */
export interface DecodedKey {
  readonly table: DecodedTable
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  /** `rowKey` of the row. */
  readonly key: string
  readonly decoderVersion: number
  readonly isDeleted: boolean
}

/** Returns the newest rows of these wallets in these slots, tombstones included. */
export async function findDecodedKeys(
  store: Store,
  places: readonly { readonly wallet: number; readonly slot: number }[],
): Promise<DecodedKey[]> {
  const found: DecodedKey[] = []
  const pairs = [...new Set(places.map(({ wallet, slot }) => `(${wallet}, ${slot})`))]
  for (const some of batches(pairs, 1000)) {
    const rows = await store.query<DecodedKeyRow>(
      Object.keys(KEYS)
        .map((table) => `(${keysQuery(table as DecodedTable, some)})`)
        .join(' UNION ALL '),
    )
    for (const row of rows)
      found.push({
        table: row.table,
        slot: Number(row.slot),
        txIndex: row.tx_index,
        wallet: row.wallet,
        key: rowKey(row.table, row),
        decoderVersion: row.decoder_version,
        isDeleted: row.is_deleted === 1,
      })
  }
  return found
}

type DecodedKeyRow = { readonly table: DecodedTable; readonly slot: string } & Readonly<
  Record<'tx_index' | 'wallet' | 'event_index' | 'decoder_version' | 'is_deleted', number>
> & { readonly account: string }

function keysQuery(table: DecodedTable, pairs: readonly string[]): string {
  const key = KEYS[table].join(', ')
  const eventIndex = KEYS[table].includes('event_index') ? 'event_index' : '0'
  const account = KEYS[table].includes('account') ? 'account' : "''"
  return `SELECT '${table}' AS table, slot, tx_index, wallet, ${account} AS account, toUInt32(${eventIndex}) AS event_index, decoder_version, is_deleted
    FROM ${table} WHERE (wallet, slot) IN (${pairs.join(', ')})
    ORDER BY ${key}, version DESC LIMIT 1 BY ${key} LIMIT 1000000`
}

/** Returns the wallets with rows in some slots, or with deleted ones, ascending. */
export async function findWalletsInSlots(
  store: Store,
  slots: readonly number[],
  which: 'alive' | 'deleted' = 'alive',
): Promise<number[]> {
  const tables = Object.entries(KEYS).map(
    ([table, columns]) => `SELECT * FROM (${newestOfSlots('wallet, is_deleted', table, columns)})`,
  )
  const rows = await store.query<{ wallet: number }>(
    `SELECT DISTINCT wallet FROM (${tables.join(' UNION ALL ')})
     WHERE is_deleted = ${which === 'alive' ? 0 : 1} ORDER BY wallet LIMIT 10000000`,
    { slots },
  )
  return rows.map(({ wallet }) => wallet)
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

/** Deletes the rows of these wallets in some slots by tombstones. Rows already deleted stay. */
export async function voidRows(
  store: Store,
  table: DecodedTable,
  slots: readonly number[],
  wallets: readonly number[],
): Promise<void> {
  if (wallets.length === 0) return
  await store.command(
    `INSERT INTO ${table}
     SELECT * REPLACE (toUInt8(1) AS is_deleted, version + 1 AS version, now64(3) AS inserted_at)
     FROM (
       SELECT * FROM (${newestOfSlots('*', table, KEYS[table], wallets)}) WHERE is_deleted = 0
     )`,
    { slots },
  )
}

/** The newest row of each key in slots `{slots:Array(UInt64)}`, of some wallets if given. */
function newestOfSlots(
  select: string,
  table: string,
  columns: readonly string[],
  wallets: readonly number[] = [],
): string {
  const key = columns.join(', ')
  const isOfWallet = wallets.length === 0 ? '' : `AND wallet IN (${wallets.join(', ')})`
  return `SELECT ${select} FROM ${table} WHERE slot IN {slots:Array(UInt64)} ${isOfWallet}
       ORDER BY ${key}, version DESC LIMIT 1 BY ${key}`
}

/** A program that no decoder knows, with its swaps and undecoded transactions. */
export interface UnknownProgram {
  readonly programId: string
  readonly swaps: number
  /** Sum of the values of the swaps; those without a value count as 0. */
  readonly lamports: bigint
  /** Number of its undecoded transactions, counted once per wallet. */
  readonly undecoded: number
  /** Signature of the newest of both. */
  readonly sampleSignature: string
}

/**
 * Returns the outermost programs of swaps without a name and of undecoded transactions: most SOL
 * first, then most swaps, then the most recently seen. At most 10,000.
 */
export async function readUnknownPrograms(store: Store): Promise<UnknownProgram[]> {
  const rows = await store.query<{
    program_id: string
    swaps: number
    lamports: string
    undecoded: number
    sample_signature: string
  }>(UNKNOWN_PROGRAMS)
  return rows.map((row) => ({
    programId: row.program_id,
    swaps: row.swaps,
    lamports: BigInt(row.lamports),
    undecoded: row.undecoded,
    sampleSignature: row.sample_signature,
  }))
}

const UNKNOWN_PROGRAMS = `
  SELECT program_id, toUInt32(sum(swap)) AS swaps, toString(sum(value)) AS lamports,
    toUInt32(countIf(swap = 0)) AS undecoded, argMax(signature, slot) AS sample_signature
  FROM (
    SELECT toString(program_id) AS program_id, signature, slot, 1 AS swap,
      toUInt256(ifNull(value_lamports, 0)) AS value
    FROM swaps FINAL WHERE confidence = 'delta_only' AND program = 'unknown'
    UNION ALL
    SELECT assumeNotNull(program_id), signature, slot, 0, toUInt256(0)
    FROM undecoded FINAL WHERE program_id IS NOT NULL
  )
  GROUP BY program_id
  ORDER BY sum(value) DESC, swaps DESC, max(slot) DESC, program_id
  LIMIT 10000`

/** Subquery: places of a wallet's transactions that could not be decoded. */
export const UNDECODED_PLACES =
  'SELECT slot, tx_index FROM undecoded FINAL WHERE wallet = {wallet:UInt32}'
