import { randomBytes } from 'node:crypto'
import type { Store } from '../../store/store.ts'

/**
 * Makes the key from which the analyst's views make event ids (rule I3), once in the life of a
 * database. Workers that start together may each store a key; the lowest counts from then on.
 */
export async function makeEventIdKey(store: Store): Promise<void> {
  const [row] = await store.query<{ keys: string }>('SELECT count() AS keys FROM event_id_key')
  if (row?.keys !== '0') return
  await store.insert('event_id_key', [{ key: randomBytes(32).toString('hex') }])
}
