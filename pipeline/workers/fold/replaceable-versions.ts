import type { Row, Store } from '../../store/store.ts'
import { readDecodedRows, rowKey } from '../../store/tables/decoded-rows.ts'
import { readPlacedTransactions } from '../../store/tables/transactions.ts'
import { DECODED_TABLES, decodedRow } from './event-rows.ts'
import type { LoggedRecord } from './flush.ts'
import { recordKey } from './record-key.ts'

/** Versions that rows of records need, by `recordKey`. Other rows have version 0. */
export type Versions = ReadonlyMap<string, bigint>

/**
 * Returns the versions of those records that replace a row of a withdrawn slot (rule K9): a
 * tombstone, or the bytes of another transaction at the place. Two versions above that row, because
 * another partition may write a tombstone of it at the same time.
 */
export async function versionsToReplace(
  store: Store,
  records: readonly LoggedRecord[],
  withdrawn: ReadonlySet<number>,
): Promise<Versions> {
  const versions = new Map<string, bigint>()
  const some = records.filter(({ record }) => withdrawn.has(record.slot))
  if (some.length === 0) return versions
  const places = some.map(({ record }) => record)
  const rows = new Map<string, Row>()
  const [transactions] = await Promise.all([
    readPlacedTransactions(store, [...new Set(places.map(({ slot }) => slot))]),
    ...DECODED_TABLES.map(async (table) => {
      for (const row of await readDecodedRows(store, table, places, []))
        rows.set(rowKey(table, row), row)
    }),
  ])
  const kept = new Map(
    transactions.map((placed) => [`${placed.slot}/${placed.txIndex}`, placed] as const),
  )
  for (const logged of some) {
    const { record } = logged
    if (record.kind === 'kept') {
      const known = kept.get(`${record.slot}/${record.txIndex}`)
      if (known && (known.isDeleted || known.signature !== record.signature))
        versions.set(recordKey(logged), known.version + 2n)
      continue
    }
    const row = rows.get(rowKey(...decodedRow(record, null)))
    if (row?.is_deleted === 1) versions.set(recordKey(logged), BigInt(String(row.version)) + 2n)
  }
  return versions
}
