import type { StateChange, StateLog, StateMessage, StoredMark } from '../../log/state-log.ts'
import { partitionOf } from '../../log/topics.ts'
import { readServerTime } from '../../store/server-time.ts'
import type { Row, Store } from '../../store/store.ts'
import { storedLateOf } from '../../store/tables/late-swaps.ts'
import { positionVersionOf } from '../../store/tables/positions.ts'
import { swapRowOf } from '../../store/tables/swaps.ts'
import { storedMetricsOf } from '../../store/tables/wallet-metrics.ts'
import {
  readWrittenRows,
  tableWritten,
  type WrittenTable,
} from '../../store/tables/written-rows.ts'
import type { Fences } from './fence.ts'

/** The form in which the rows of each table are read. */
const READ_FORM: Readonly<Record<WrittenTable, (row: Row) => object>> = {
  positions: positionVersionOf,
  wallet_metrics: storedMetricsOf,
  swaps: swapRowOf,
  late_swaps: storedLateOf,
}

/**
 * How long a row may be stored after the time of the log entry that it follows from, by other
 * clocks, and how long an insert may take. Rows from before that are appended again, which is
 * harmless.
 */
const CLOCK_SKEW_MS = 60_000
/** A reader that is further behind than the log reaches reads the tables again. */
const RETENTION_MS = 24 * 3600 * 1000

/**
 * What the fold has stored and not yet appended to the log of states (rule K26). It notes what its
 * store writes. Rows that a statement computes, and rows of a former owner of the partitions, are
 * read from the tables.
 */
export class StatePublisher {
  /** Writes through this store are noted. */
  readonly store: Store
  readonly #log: StateLog
  #noted = new Map<number, StateChange[]>()
  /** By table: the time since which its rows have to be read. */
  readonly #unread = new Map<WrittenTable, number>()
  /** The server's time when the tables were last read, in unix milliseconds; 0: not yet. */
  #readAt = 0
  #partitions: readonly number[] = []

  constructor(store: Store, log: StateLog) {
    this.#log = log
    this.store = {
      ...store,
      insert: async (table, rows, options) => {
        await store.insert(table, rows, options)
        this.#note(table, rows)
      },
      command: async (sql, params) => {
        const table = tableWritten(sql)
        const since = table === undefined ? 0 : await readServerTime(store)
        await store.command(sql, params)
        if (table !== undefined) this.#readSince(table, since)
      },
    }
  }

  /**
   * Begins with the partitions of an assignment. `logTime`: unix milliseconds of the newest log
   * entry of them whose effects are stored and appended; 0 if that is not known.
   */
  assigned(partitions: readonly number[], logTime: number, now: number): void {
    this.#partitions = partitions
    this.#noted.clear()
    this.#unread.clear()
    this.#readAt = 0
    if (partitions.length === 0) return
    const since = Math.max(logTime - CLOCK_SKEW_MS, now - RETENTION_MS)
    for (const table of TABLE_NAMES) this.#readSince(table, since)
  }

  /** Reads the tables once more: a former owner has stored something since they were read. */
  readAgain(): void {
    if (this.#readAt === 0) return // they will be
    for (const table of TABLE_NAMES) this.#readSince(table, this.#readAt - CLOCK_SKEW_MS)
  }

  /** Appends everything that was stored, and then the marks of partitions. */
  async append(fences: Fences, marks: ReadonlyMap<number, StoredMark>): Promise<void> {
    if (this.#unread.size > 0) this.#readAt = await readServerTime(this.store)
    const of = { partitions: this.#partitions, count: this.#log.partitions }
    for (const [table, since] of this.#unread) {
      for await (const rows of readWrittenRows(this.store, table, since, of)) {
        for (const row of rows) this.#add({ table, row })
        // Page by page, because they may be the rows of hours.
        await this.#log.append(this.#takeNoted(fences))
      }
      this.#unread.delete(table)
    }
    const messages = this.#takeNoted(fences)
    for (const [partition, mark] of marks) {
      const changes = messages.get(partition)?.changes ?? []
      messages.set(partition, { changes, mark, fence: fences.get(partition) ?? 0 })
    }
    if (messages.size > 0) await this.#log.append(messages)
  }

  #takeNoted(fences: Fences): Map<number, StateMessage> {
    const messages = new Map<number, StateMessage>()
    for (const [partition, changes] of this.#noted)
      messages.set(partition, { changes, mark: null, fence: fences.get(partition) ?? 0 })
    this.#noted = new Map()
    return messages
  }

  #readSince(table: WrittenTable, since: number): void {
    this.#unread.set(table, Math.min(since, this.#unread.get(table) ?? since))
  }

  #note(table: string, rows: readonly Row[]): void {
    const known = TABLE_NAMES.find((name) => name === table)
    if (known === undefined) return
    const read = READ_FORM[known]
    for (const row of rows) this.#add({ table: known, row: read(row) as Row })
  }

  #add(change: StateChange): void {
    const { wallet, partition } = change.row
    const at =
      change.table === 'late_swaps'
        ? Number(partition)
        : partitionOf(Number(wallet), this.#log.partitions)
    const noted = this.#noted.get(at)
    if (noted === undefined) this.#noted.set(at, [change])
    else noted.push(change)
  }
}

const TABLE_NAMES = Object.keys(READ_FORM) as WrittenTable[]
