import type { Consumer, LogBatch } from './log.ts'

/** A row of a table, with the columns and in the form in which the table is read. */
export type StateRow = Readonly<Record<string, unknown>>

/** The tables whose changes are on the log. */
export const STATE_TABLES = ['positions', 'wallet_metrics', 'swaps', 'late_swaps', 'mints'] as const
/** One of `STATE_TABLES`. */
export type StateTable = (typeof STATE_TABLES)[number]

/**
 * A row that was stored; of a mint, that its facts changed. Of the changes of a key the last one
 * counts; with `is_deleted` it is gone.
 */
export interface StateChange {
  readonly table: StateTable
  readonly row: StateRow
}

/**
 * Up to which slot a worker has stored a partition: every row that follows from these slots is in
 * its table, and on the log before this mark, and table `progress` has the slot.
 */
export interface StoredMark {
  readonly slot: number
  readonly blockTime: number
}

/** What is appended to a partition at once. The changes come before the mark. */
export interface StateMessage {
  /** Changes of one table have the same columns, and keep their order. */
  readonly changes: readonly StateChange[]
  readonly mark: StoredMark | null
  /**
   * Token of the worker that has the partition (rule K15). Readers drop entries with a lower token
   * than an earlier entry of the partition has. Null for facts about mints, which any worker
   * stores.
   */
  readonly fence: number | null
}

/** An entry as read. Kafka has several for a message with many changes, the last with the mark. */
export type StateEntry = { readonly offset: bigint } & StateMessage

/** Handles entries of one partition. Its next batch follows when the promise has resolved. */
export type StateHandler = (batch: LogBatch<StateEntry>) => Promise<void>

/**
 * The log of states (topic `wallet-state`): what the fold has stored, for readers that keep tables
 * in memory. The tables are the snapshot; the log has what changed since (rule K26). It has the
 * partitions of the log of events. Kafka in production (`kafka-state-log.ts`), memory in one
 * process (`memory-state-log.ts`); both pass `state-log.contract.test.ts`.
 */
export interface StateLog {
  readonly partitions: number
  /**
   * Appends messages, by partition. Resolves when they are acknowledged. Waits for a lost server
   * without a limit. Rejects with `closed` once the log is closed.
   */
  append(messages: ReadonlyMap<number, StateMessage>): Promise<void>
  /**
   * Reads every partition from its end on. Resolves when all that is appended later will come.
   */
  follow(handler: StateHandler): Promise<Consumer>
  /** Stops reading and appending, and closes every connection. */
  close(): Promise<void>
}
