import type { Store } from './store.ts'

/** Returns the server's time, which columns `inserted_at` have, in unix milliseconds. */
export async function readServerTime(store: Store): Promise<number> {
  const [row] = await store.query<{ ms: string }>(
    'SELECT toUnixTimestamp64Milli(now64(3)) AS ms',
    {},
    ['ms'],
  )
  return Number(row?.ms)
}
