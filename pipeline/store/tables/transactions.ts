import { type Address, addressBytes } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { batches } from '../../runtime/batches.ts'
import { onCluster } from '../on-cluster.ts'
import type { Row, Store } from '../store.ts'
import { isAccessDenied } from '../store-error.ts'
import { WITHDRAWN_SLOTS } from './withdrawn-slots.ts'

/** Position of a transaction on the chain: `txIndex` is its index in the block. */
export interface TransactionPlace {
  readonly slot: number
  readonly txIndex: number
}

/** Returns those of `places` that table `transactions` has. */
export async function findStoredTransactions(store: Store, places: readonly TransactionPlace[]) {
  const found: TransactionPlace[] = []
  for (const batch of batches(places, 1000)) {
    const some = batch.map(({ slot, txIndex }) => `(${slot}, ${txIndex})`)
    const rows = await store.query<{ slot: string; tx_index: number }>(
      `SELECT DISTINCT slot, tx_index FROM transactions WHERE (slot, tx_index) IN (${some.join(', ')}) LIMIT 1000`,
    )
    for (const { slot, tx_index } of rows) found.push({ slot: Number(slot), txIndex: tx_index })
  }
  return found
}

/** The newest row of a transaction's place, which may be a tombstone. */
export interface PlacedTransaction extends TransactionPlace {
  readonly signature: string
  readonly version: bigint
  readonly isDeleted: boolean
}

/** Returns the newest rows of slots. */
export async function readPlacedTransactions(store: Store, slots: readonly number[]) {
  const rows = await store.query<
    Record<'slot' | 'signature' | 'version', string> & Record<'tx_index' | 'is_deleted', number>
  >(
    `SELECT slot, tx_index, signature, version, is_deleted FROM transactions
     WHERE slot IN {slots:Array(UInt64)} ORDER BY slot, tx_index, version DESC LIMIT 1 BY slot, tx_index`,
    { slots },
  )
  return rows.map(
    (row): PlacedTransaction => ({
      slot: Number(row.slot),
      txIndex: row.tx_index,
      signature: row.signature,
      version: BigInt(row.version),
      isDeleted: row.is_deleted === 1,
    }),
  )
}

/**
 * Deletes the transactions of these wallets in some slots by tombstones: those that are on the log
 * under one of them.
 */
export async function voidTransactions(
  store: Store,
  slots: readonly number[],
  wallets: readonly number[],
): Promise<void> {
  if (wallets.length === 0) return
  await store.command(
    `INSERT INTO transactions
     SELECT * REPLACE ('' AS bytes, version + 1 AS version, toUInt8(1) AS is_deleted, now64(3) AS inserted_at)
     FROM (
       SELECT * FROM (
         SELECT * FROM transactions WHERE slot IN {slots:Array(UInt64)}
         ORDER BY slot, tx_index, version DESC LIMIT 1 BY slot, tx_index
       ) WHERE is_deleted = 0 AND wallet IN (${wallets.join(', ')})
     )`,
    { slots },
  )
}

/** Stores rows made by `recordRow`, in inserts of bounded size. */
export async function insertTransactions(store: Store, rows: readonly Row[]): Promise<void> {
  let some: Row[] = []
  let size = 0
  for (const [at, row] of rows.entries()) {
    some.push(row)
    size += String(row.base64).length
    if (size < BASE64_PER_INSERT && at < rows.length - 1) continue
    // ClickHouse accepts `base64`, an EPHEMERAL column, only in inserts that name their columns.
    await store.insert('transactions', some, { columns: Object.keys(row) })
    some = []
    size = 0
  }
}

const BASE64_PER_INSERT = 4 * 1024 * 1024

/**
 * Has the bytes of transactions kept for `days` after the end of the month of their block, or for
 * ever (null) (rule K28). ClickHouse then deletes them in the background. Changes the table only if
 * it differs. Rejects with `bad_config` if the user may not change it.
 */
export async function keepTransactions(store: Store, days: number | null): Promise<void> {
  const [table] = await store.query<{ now: string }>(
    `SELECT extract(engine_full, 'toIntervalDay\\((\\d+)\\)') AS now FROM system.tables
     WHERE database = currentDatabase() AND name = 'transactions'`,
    {},
    ['now'],
  )
  if ((table?.now ?? '') === (days?.toString() ?? '')) return
  // Rows expire by months, so that a large part is written again once a month and not each day.
  // Tombstones stay: without its tombstone, an older row that is not deleted yet would be valid.
  const ttl = `toStartOfMonth(toDateTime(block_time, 'UTC')) + toIntervalMonth(1) + toIntervalDay(${days})`
  const change = days === null ? 'REMOVE TTL' : `MODIFY TTL ${ttl} DELETE WHERE is_deleted = 0`
  const statement = `ALTER TABLE transactions ${change}`
  const cluster = store.replicas?.cluster ?? null
  try {
    await store.command(cluster === null ? statement : onCluster(statement, cluster, ''))
  } catch (error) {
    if (!isAccessDenied(error)) throw error
    throw new ServiceError(
      'bad_config',
      'TRANSACTION_BYTES_DAYS: the user of CLICKHOUSE_URL may change no table: run `npm run -s operator -- migrate` with this key as the owner of the tables',
      { cause: error },
    )
  }
}

/** A row of table `transactions`. */
export interface StoredTransaction extends TransactionPlace {
  /** Unix seconds of the block. */
  readonly blockTime: number
  /** Null for a transaction that was too large to store. */
  readonly bytes: Uint8Array | null
}

/**
 * Yields the stored transactions up to slot `to` in pages, in chain order, each once. With
 * `naming`, only those whose bytes contain the address, as a key or as the owner of a token
 * balance; a few others may be among them. `passed` counts the rows looked at, of `total`.
 */
export async function* readStoredTransactions(
  store: Store,
  options: { readonly to: number; readonly naming: Address | null; readonly rowsPerPage: number },
): AsyncGenerator<{ rows: StoredTransaction[]; passed: number; total: number | null }> {
  const { to, naming, rowsPerPage } = options
  const [count] = await store.query<{ total: string }>(
    'SELECT uniqExact(slot, tx_index) AS total FROM transactions WHERE slot <= {to:UInt64}',
    { to },
  )
  // Rows of withdrawn slots may be void. There are few.
  const current = `(slot NOT IN (${WITHDRAWN_SLOTS}) OR (slot, tx_index, version) IN (
    SELECT slot, tx_index, max(version) FROM transactions WHERE slot IN (${WITHDRAWN_SLOTS})
    GROUP BY slot, tx_index HAVING argMax(is_deleted, version) = 0))`
  const names = naming === null ? {} : { key: hex(addressBytes(naming)), address: naming }
  let after = { slot: -1, txIndex: 0 }
  for (let passed = 0; ; ) {
    const places = await store.query<{ slot: string; tx_index: number }>(
      `SELECT slot, tx_index FROM transactions WHERE ${beyond(after)} AND slot <= {to:UInt64} AND ${current}
       ORDER BY slot, tx_index LIMIT 1 BY slot, tx_index LIMIT ${rowsPerPage}`,
      { to },
    )
    const last = places.at(-1)
    if (last === undefined) return
    const end = { slot: Number(last.slot), txIndex: last.tx_index }
    const rows = await store.query<
      Record<'slot' | 'format' | 'base64', string> & Record<'tx_index' | 'block_time', number>
    >(
      `SELECT slot, tx_index, block_time, format, base64Encode(bytes) AS base64 FROM transactions
       WHERE ${beyond(after)} AND slot <= ${end.slot} AND (slot, tx_index) <= (${end.slot}, ${end.txIndex}) AND ${current}
       ${naming === null ? '' : 'AND (position(bytes, unhex({key:String})) > 0 OR position(bytes, {address:String}) > 0)'}
       ORDER BY slot, tx_index LIMIT 1 BY slot, tx_index`,
      names,
    )
    passed += places.length
    yield {
      passed,
      total: count === undefined ? null : Number(count.total),
      rows: rows.map((row) => ({
        slot: Number(row.slot),
        txIndex: row.tx_index,
        blockTime: row.block_time,
        bytes: row.format === 'yellowstone' ? Buffer.from(row.base64, 'base64') : null,
      })),
    }
    after = end
  }
}

function beyond({ slot, txIndex }: TransactionPlace): string {
  return slot < 0 ? 'true' : `slot >= ${slot} AND (slot, tx_index) > (${slot}, ${txIndex})`
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
