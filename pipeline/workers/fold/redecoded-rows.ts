import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type { DecodedRecord } from '../../domain/slot.ts'
import type { Row, Store } from '../../store/store.ts'
import { insertDecodedRows, readDecodedRows, rowKey } from '../../store/tables/decoded-rows.ts'
import type { TransactionPlace } from '../../store/tables/transactions.ts'
import { DECODED_TABLES, type DecodedTable, decodedRow } from './event-rows.ts'

const REDECODED_TABLES = DECODED_TABLES.filter((table) => table !== 'token_links')

/** Rows of the decoder's tables, by `rowKey`. */
export type StoredRows = ReadonlyMap<string, Row>

/** Columns that do not describe the event. */
const IGNORED = new Set(['late', 'decoder_version', 'version', 'is_deleted'])

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
  await Promise.all(
    REDECODED_TABLES.map(async (table) => {
      const of = table === 'sol_balances' ? wallets.balancesOf : [wallets.only ?? []].flat()
      if (table === 'sol_balances' && of.length === 0) return
      const rows = await readDecodedRows(store, table, places, of)
      for (const row of rows) stored.set(rowKey(table, row), row)
    }),
  )
  return stored
}

/** A row to write, so that the tables match the decoder. */
export interface RowChange {
  readonly table: DecodedTable
  /** `restamped`: only the version of its decoder changes. */
  readonly kind: 'added' | 'changed' | 'removed' | 'restamped'
  readonly row: Row
}

/**
 * Returns the difference between stored rows and the records that their transactions give now. A
 * row without a record gets a tombstone, except a balance, which only needs the transaction (rule
 * B14). A tombstone keeps the version of the decoder that made the row. `late` of a stored row
 * stays. A new row counts as fetched by a backfill, so no socket receives it. With `restamps`, rows
 * that stay the same get the version of the new decoder too.
 */
export function compareRows(
  stored: StoredRows,
  records: readonly DecodedRecord[],
  decoderVersion = DECODER_VERSION,
  restamps = false,
): readonly RowChange[] {
  const changes: RowChange[] = []
  const seen = new Set<string>()
  for (const record of records) {
    const [table, made] = decodedRow(record, 'backfill', decoderVersion)
    const key = rowKey(table, made)
    seen.add(key)
    const before = stored.get(key)
    const isSame = before !== undefined && !isDeleted(before) && isUnchanged(made, before)
    if (isSame && !restamps) continue
    const late = before?.late === undefined ? {} : { late: before.late }
    const row = { ...made, ...late, is_deleted: 0, version: before ? nextVersion(before) : 0n }
    const kind = !before || isDeleted(before) ? 'added' : isSame ? 'restamped' : 'changed'
    changes.push({ table, kind, row })
  }
  for (const [key, before] of stored) {
    const table = REDECODED_TABLES.find((name) => key.startsWith(`${name}:`))
    if (table === undefined || table === 'sol_balances') continue
    if (seen.has(key) || isDeleted(before)) continue
    const row = { ...before, version: nextVersion(before), is_deleted: 1 }
    changes.push({ table, kind: 'removed', row })
  }
  return changes
}

/** Stores the rows of changes. */
export async function insertChanges(store: Store, changes: readonly RowChange[]): Promise<void> {
  await Promise.all(
    DECODED_TABLES.map(async (name) => {
      const rowsOf = (isRemoved: boolean): Row[] =>
        changes.flatMap(({ table, kind, row }) =>
          table === name && (kind === 'removed') === isRemoved ? [row] : [],
        )
      // Rows of one insert must have the same columns.
      await insertDecodedRows(store, name, rowsOf(false))
      await insertDecodedRows(store, name, rowsOf(true))
    }),
  )
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
