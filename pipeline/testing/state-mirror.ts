import { strict as assert } from 'node:assert'
import type { StateLog, StateRow } from '../log/state-log.ts'
import type { Store } from '../store/store.ts'
import { keyColumns, readWrittenRows, type WrittenTable } from '../store/tables/written-rows.ts'

const TABLES = ['positions', 'wallet_metrics', 'swaps', 'late_swaps'] as const

/** The tables as a reader of a log of states has them that began with empty tables. */
export class StateMirror {
  readonly #rows = emptyTables()
  #partitions = 1
  /** By partition. */
  readonly #fences = new Map<number, number>()

  /** Reads the log on. */
  async follow(log: StateLog): Promise<void> {
    this.#partitions = log.partitions
    await log.follow(async ({ partition, records }) => {
      for (const entry of records) {
        const fence = this.#fences.get(partition) ?? 0
        if (entry.fence === null || entry.fence < fence) continue
        this.#fences.set(partition, entry.fence)
        for (const { table, row } of entry.changes)
          if (table !== 'mints') take(this.#rows, table, row)
      }
    })
  }

  /** Throws unless the tables have the same rows. */
  async check(store: Store): Promise<void> {
    const all = Array.from({ length: this.#partitions }, (_, partition) => partition)
    const stored = emptyTables()
    for (const table of TABLES)
      for await (const rows of readWrittenRows(store, table, 0, {
        partitions: all,
        count: this.#partitions,
      }))
        for (const row of rows) take(stored, table, row)
    for (const table of TABLES)
      assert.deepEqual(alive(this.#rows[table]), alive(stored[table]), table)
  }
}

type Tables = Readonly<Record<WrittenTable, Map<string, StateRow>>>

const emptyTables = (): Tables => ({
  positions: new Map(),
  wallet_metrics: new Map(),
  swaps: new Map(),
  late_swaps: new Map(),
})

function take(tables: Tables, table: WrittenTable, row: StateRow): void {
  tables[table].set(
    keyColumns(table)
      .map((column) => row[column])
      .join('/'),
    row,
  )
}

// A tracked wallet without events has a row, which is that of no row.
const alive = (rows: ReadonlyMap<string, StateRow>) =>
  Object.fromEntries([...rows].filter(([, row]) => !isVoid(row)).sort())

/** A deleted row, the place of a withdrawn late swap, or the metrics of a wallet without events. */
const isVoid = ({ is_deleted, slot, status, version }: StateRow) =>
  is_deleted === 1 || slot === '0' || (status !== undefined && version === '0')
