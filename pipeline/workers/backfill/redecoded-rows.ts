import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type { DecodedRecord } from '../../domain/slot.ts'
import type { Row, Store } from '../../store/store.ts'
import { DECODED_TABLES, type DecodedTable, decodedRow } from '../fold/event-rows.ts'
import type { TransactionPlace } from '../fold/stored-transactions.ts'

/** Rows of the decoder's tables, by `rowKey`. */
export type StoredRows = ReadonlyMap<string, Row>

const EVENT_KEY = ['slot', 'tx_index', 'wallet', 'event_index']
const KEYS: Readonly<Record<DecodedTable, readonly string[]>> = {
  swaps: EVENT_KEY,
  transfers: EVENT_KEY,
  sol_transfers: EVENT_KEY,
  sol_balances: ['wallet', 'slot', 'tx_index'],
  undecoded: ['slot', 'tx_index', 'wallet'],
}

/** Columns that do not describe the event. */
const IGNORED = new Set(['late', 'decoder_version', 'version', 'is_deleted'])

/** Returns the table and key of a row as text. Integers may be numbers, bigints or strings. */
export function rowKey(table: DecodedTable, row: Row): string {
  return `${table}:${KEYS[table].map((column) => String(row[column])).join('/')}`
}

/**
 * Returns the newest rows of some transactions, tombstones included: events and `undecoded` rows of
 * wallet `only` (null: of every wallet), and balances of the wallets `balancesOf`.
 */
export async function readStoredRows(
  store: Store,
  places: readonly TransactionPlace[],
  wallets: { readonly only: number | null; readonly balancesOf: readonly number[] },
): Promise<StoredRows> {
  const stored = new Map<string, Row>()
  if (places.length === 0) return stored
  const slots = places.map(({ slot }) => slot)
  const params = { from: Math.min(...slots), to: Math.max(...slots) }
  const list = places.map(({ slot, txIndex }) => `(${slot}, ${txIndex})`).join(', ')
  await Promise.all(
    DECODED_TABLES.map(async (table) => {
      const of = table === 'sol_balances' ? wallets.balancesOf : [wallets.only ?? []].flat()
      if (table === 'sol_balances' && of.length === 0) return
      const key = KEYS[table].join(', ')
      const rows = await store.query<Row>(
        `SELECT * EXCEPT inserted_at FROM ${table}
         WHERE slot BETWEEN {from:UInt64} AND {to:UInt64} AND (slot, tx_index) IN (${list}) ${of.length === 0 ? '' : `AND wallet IN (${of.join(', ')})`}
         ORDER BY ${key}, version DESC LIMIT 1 BY ${key}`,
        params,
      )
      for (const row of rows) stored.set(rowKey(table, row), row)
    }),
  )
  return stored
}

/** A row to write, so that the tables match the decoder. */
export interface RowChange {
  readonly table: DecodedTable
  readonly kind: 'added' | 'changed' | 'removed'
  readonly row: Row
}

/**
 * Returns the difference between stored rows and the records that their transactions give now. A
 * row without a record gets a tombstone, except a balance, which only needs the transaction (rule
 * B14). `late` of a stored row stays. A new row counts as fetched by a backfill, so no socket
 * receives it.
 */
export function compareRows(
  stored: StoredRows,
  records: readonly DecodedRecord[],
): readonly RowChange[] {
  const changes: RowChange[] = []
  const seen = new Set<string>()
  for (const record of records) {
    const [table, made] = decodedRow(record, 'backfill')
    const key = rowKey(table, made)
    seen.add(key)
    const before = stored.get(key)
    if (before !== undefined && !isDeleted(before) && isUnchanged(made, before)) continue
    const late = before?.late === undefined ? {} : { late: before.late }
    const alive = table === 'sol_balances' ? {} : { is_deleted: 0 }
    const row = { ...made, ...late, ...alive, version: before ? nextVersion(before) : 0n }
    changes.push({ table, kind: !before || isDeleted(before) ? 'added' : 'changed', row })
  }
  for (const [key, before] of stored) {
    const table = DECODED_TABLES.find((name) => key.startsWith(`${name}:`))
    if (table === undefined || table === 'sol_balances') continue
    if (seen.has(key) || isDeleted(before)) continue
    const version = nextVersion(before)
    const row = { ...before, version, is_deleted: 1, decoder_version: DECODER_VERSION }
    changes.push({ table, kind: 'removed', row })
  }
  return changes
}

function isDeleted(row: Row): boolean {
  return row.is_deleted === 1
}

function nextVersion(row: Row): bigint {
  return BigInt(String(row.version)) + 1n
}

function isUnchanged(made: Row, stored: Row): boolean {
  return Object.entries(made).every(
    ([column, value]) => IGNORED.has(column) || String(value) === String(stored[column]),
  )
}
