import type { Row, Store } from '../store/store.ts'

/** Where a transaction is on the chain. */
export interface TransactionPlace {
  readonly slot: number
  readonly txIndex: number
}

/** Those of `places` of which the bytes are stored. */
export async function findKept(
  store: Store,
  places: readonly TransactionPlace[],
): Promise<TransactionPlace[]> {
  const found: TransactionPlace[] = []
  for (let at = 0; at < places.length; at += 1000) {
    const some = places.slice(at, at + 1000).map(({ slot, txIndex }) => `(${slot}, ${txIndex})`)
    const rows = await store.query<{ slot: string; tx_index: number }>(
      `SELECT DISTINCT slot, tx_index FROM transactions WHERE (slot, tx_index) IN (${some.join(', ')}) LIMIT 1000`,
    )
    for (const { slot, tx_index } of rows) found.push({ slot: Number(slot), txIndex: tx_index })
  }
  return found
}

/** Stores rows of `keptRow` in inserts of bounded size. */
export async function storeKept(store: Store, rows: readonly Row[]): Promise<void> {
  let some: Row[] = []
  let size = 0
  for (const [at, row] of rows.entries()) {
    some.push(row)
    size += String(row.base64).length
    if (size < BASE64_PER_INSERT && at < rows.length - 1) continue
    await store.insert('transactions', some, { columns: KEPT_COLUMNS })
    some = []
    size = 0
  }
}

const BASE64_PER_INSERT = 4 * 1024 * 1024

/** `base64` is a column of inserts alone, which ClickHouse takes only where the columns are named. */
const KEPT_COLUMNS = [
  'slot',
  'tx_index',
  'block_time',
  'signature',
  'format',
  'base64',
  'decoder_version',
] as const
