import type { Store } from '../store.ts'

/** Returns the newest stored salt, '' for none, and its version. */
export async function readSalt(
  store: Store,
): Promise<{ readonly salt: string; readonly version: number }> {
  const [row] = await store.query<{ salt: string; newest: string }>(
    'SELECT argMax(salt, version) AS salt, max(version) AS newest FROM privacy_salt',
  )
  return { salt: row?.salt ?? '', version: Number(row?.newest ?? 0) }
}

/** Stores a salt. The highest version counts. */
export async function insertSalt(store: Store, salt: string, version: number): Promise<void> {
  await store.insert('privacy_salt', [{ id: 1, salt, version }])
}
