import type { Row, Store } from '../store.ts'
import { LATE_COLUMNS } from './late-swaps.ts'
import { POSITION_COLUMNS } from './positions.ts'
import { SWAP_COLUMNS } from './swaps.ts'
import { METRICS_COLUMNS } from './wallet-metrics.ts'

/** Rows in one page. */
const PAGE = 20_000

const BY_WALLET = '(wallet - 1) % {count:UInt16}'

/** How the rows of a table are read. `key`: its order. Of a key the highest `newest` counts. */
const TABLES = {
  positions: {
    columns: POSITION_COLUMNS,
    key: 'wallet, mint',
    newest: 'version',
    by: BY_WALLET,
  },
  wallet_metrics: {
    columns: METRICS_COLUMNS,
    key: 'wallet',
    newest: 'version',
    by: BY_WALLET,
  },
  swaps: {
    columns: SWAP_COLUMNS,
    key: 'slot, tx_index, wallet, event_index',
    newest: 'version',
    by: BY_WALLET,
  },
  late_swaps: {
    columns: LATE_COLUMNS,
    key: 'epoch, passed_slot, partition, offset',
    newest: 'inserted_at',
    by: 'partition',
  },
} as const

/** A table of `readWrittenRows`. */
export type WrittenTable = keyof typeof TABLES

/** Returns the table into which a statement inserts rows; undefined for another statement. */
export function tableWritten(statement: string): WrittenTable | undefined {
  const [, name] = /^\s*INSERT INTO (\w+)/.exec(statement) ?? []
  return name !== undefined && name in TABLES ? (name as WrittenTable) : undefined
}

/** Returns the columns that tell the rows of a table apart, in its order. */
export function keyColumns(table: WrittenTable): readonly string[] {
  return TABLES[table].key.split(', ')
}

/**
 * Yields the rows of some partitions of the log that were written since a time, in pages: the
 * newest row of each key. `since`: unix milliseconds of the server's clock; `count`:
 * number of partitions of the log.
 */
export async function* readWrittenRows(
  store: Store,
  table: WrittenTable,
  since: number,
  of: { readonly partitions: readonly number[]; readonly count: number },
): AsyncGenerator<readonly Row[]> {
  const { columns, key, by, newest } = TABLES[table]
  const names = keyColumns(table)
  for (let after = ''; ; ) {
    const rows = await store.query<Row>(
      `SELECT ${columns} FROM ${table}
       WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND ${by} IN {partitions:Array(UInt16)} ${after}
       ORDER BY ${key}, ${newest} DESC LIMIT 1 BY ${key} LIMIT ${PAGE}`,
      { since, ...of },
    )
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (rows.length < PAGE || last === undefined) return
    const values = names.map((name) => `'${String(last[name])}'`)
    after = `AND (${key}) > (${values.join(', ')})`
  }
}
