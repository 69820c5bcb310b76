import { batches } from '../runtime/batches.ts'
import type { Row, Store } from './store.ts'

/** Maximum number of rows of one insert. */
export const ROWS_PER_INSERT = 20_000

/** Stores any number of rows, in order, in inserts of at most `ROWS_PER_INSERT` rows. */
export async function insertRows(store: Store, table: string, rows: readonly Row[]): Promise<void> {
  for (const some of batches(rows, ROWS_PER_INSERT)) await store.insert(table, some)
}

/** Returns `insertRows` for one table. */
export const inserter =
  (table: string) =>
  (store: Store, rows: readonly Row[]): Promise<void> =>
    insertRows(store, table, rows)
