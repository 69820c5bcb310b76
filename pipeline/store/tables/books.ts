import { batches } from '../../runtime/batches.ts'
import { inserter, ROWS_PER_INSERT } from '../insert-rows.ts'
import type { Row, Store } from '../store.ts'

// The tables that the fold derives, except `positions` and `wallet_metrics`. Of a key the highest
// `version` counts; a tombstone removes it.

/** Stores rows of `lots`. */
export const insertLots = inserter('lots')

/** Stores rows of `disposals`, with the server's time: the roller looks for new rows by it. */
export async function insertDisposals(store: Store, rows: readonly Row[]): Promise<void> {
  const stamped = rows.map((row) => Object.assign({ stamped: 1 }, row))
  for (const some of batches(stamped, ROWS_PER_INSERT))
    await store.insert('disposals', some, { columns: Object.keys(some[0] ?? {}) })
}

/** Stores rows of `first_buys`. */
export const insertFirstBuys = inserter('first_buys')

/** Subquery: the first buys of mint `{mint:String}`. FINAL takes twice as long. */
export const FIRST_BUYS_OF_MINT = `
  SELECT wallet, amount, value_lamports, sol_price_usd_e9 FROM (
    SELECT wallet, amount, value_lamports, sol_price_usd_e9, is_deleted
    FROM first_buys WHERE mint = {mint:String} ORDER BY mint, wallet, version DESC LIMIT 1 BY mint, wallet
  ) WHERE is_deleted = 0`

const OF_WALLETS = 'wallet IN {wallets:Array(UInt32)}'

/** The tables of `deleteStaleRows`. */
export const STALE_TABLES = [
  'lots',
  'disposals',
  'profit_hours',
  'positions',
  'first_buys',
] as const

/**
 * The columns that a tombstone keeps of each table, which are at least the key, and the condition
 * for the rows of `{wallets:Array(UInt32)}`.
 */
const KEPT = {
  lots: ['wallet, mint, slot, tx_index, event_index', OF_WALLETS],
  disposals: [
    'wallet, mint, slot, tx_index, event_index, lot_slot, lot_tx_index, lot_event_index, block_time',
    OF_WALLETS,
  ],
  profit_hours: ['wallet, hour, mint', OF_WALLETS],
  positions: ['wallet, mint', OF_WALLETS],
  // This table is ordered by mint. The positions of a wallet name every mint that it ever traded.
  first_buys: [
    'mint, wallet',
    `(mint, wallet) IN (SELECT mint, wallet FROM positions WHERE ${OF_WALLETS})`,
  ],
} as const

/**
 * Writes tombstones over rows of a table with a version below `versions`: wallet to the version
 * from which on its rows are current. Those are stored.
 */
export async function deleteStaleRows(
  store: Store,
  table: (typeof STALE_TABLES)[number],
  versions: ReadonlyMap<number, bigint>,
): Promise<void> {
  const params = { wallets: [...versions.keys()], versions: [...versions.values()] }
  const first = 'transform(wallet, {wallets:Array(UInt32)}, {versions:Array(UInt64)}, 0)'
  const [kept, where] = KEPT[table]
  const [stamped, stamp] = table === 'disposals' ? [', stamped', ', 1'] : ['', '']
  await store.command(
    `INSERT INTO ${table} (${kept}, version, is_deleted${stamped})
     SELECT ${kept}, ${first}, 1${stamp} FROM ${table} FINAL WHERE ${where} AND version < ${first}`,
    params,
  )
}
