import type { BlockId } from '../domain/block-id.ts'
import type {
  AppendedBlock,
  RefoldRequest,
  ResumePoint,
  SlotMarker,
  SlotRecords,
  WalletRecord,
  Withdrawal,
} from '../domain/slot.ts'
import type { LateOrigin, LogMessage } from './log-message.ts'
import type { StateLog } from './state-log.ts'

/**
 * The log of wallet events: the contract between ingest and its consumers. Kafka in production
 * (`kafka.ts`), memory in one process (`memory.ts`); both pass `log.contract.test.ts`. The key of a
 * record is its wallet's alias, so one partition has all records of a wallet in order. The marker
 * of a slot follows its records on every partition (rules K2, K3).
 */
export interface EventLog {
  readonly partitions: number
  /** What the fold has stored of these events. */
  readonly states: StateLog
  /**
   * 0 for a log that outlives processes. A log in memory has the unix milliseconds of its start,
   * which is above the epoch of every earlier one.
   */
  readonly epoch: number
  /**
   * Makes this process the only writer of slots (rule K14). Call it before `resumePoint`: from when
   * it resolves, nothing comes from the process that led before; its appends reject with `fenced`.
   * Rejects with `unreachable` if the server does not answer. A log in memory has one process.
   */
  lead(): Promise<void>
  /**
   * Appends a sealed slot. Resolves when its records and its marker on every partition are
   * acknowledged. Slots are appended in the order of the calls, even if the caller does not wait. A
   * caller bounds memory by the number of unacknowledged slots.
   *
   * A lost server is waited for without a limit. Rejects with a ServiceError only if the log is
   * closed (`closed`), another process leads (`fenced`), or it cannot recover (`internal`): end the
   * process. The slot may then be
   * appended in part. Appending it again is harmless, because consumers are idempotent by event
   * key.
   */
  appendSlot(slot: SlotRecords): Promise<void>
  /**
   * Appends records of transactions that came after their slot was sealed (rule K2); they carry
   * `late: true`. `blockId`: their block, if its hash is known.
   */
  appendLate(
    records: readonly WalletRecord[],
    origin: LateOrigin,
    blockId?: BlockId | null,
  ): Promise<void>
  /** Appends the withdrawal of a slot to every partition (rule K9). */
  appendWithdrawal(withdrawal: Withdrawal): Promise<void>
  /**
   * Appends requests to fold wallets again. Each follows the earlier records of its wallet, on the
   * same partition.
   */
  appendRefolds(refolds: readonly RefoldRequest[]): Promise<void>
  /**
   * Returns the newest marker that every partition has; null on an empty log, or if a newer version
   * of the service wrote the end of a partition. A log in memory starts empty.
   */
  checkpoint(): Promise<SlotMarker | null>
  /**
   * Returns what the log has now. `times`: unix milliseconds by partition, for `later`. Rejects if
   * the server does not answer.
   */
  extent(times?: ReadonlyMap<number, number>): Promise<LogExtent>
  /**
   * Returns where ingest continues after the process that appended last ended, at whatever point. A
   * log in memory ended with it: storage says where ingest continues, and this is `LIVE_START`.
   * Rejects with `newer_format` if a newer version of the service wrote the end of the log (rule
   * K18).
   */
  resumePoint(): Promise<ResumePoint>
  /**
   * Returns of blocks up to a checkpoint what was appended, oldest first: of the newest `slots`, as
   * far as they are within the newest 20,000 entries of each partition. What else is found in them
   * later is late (rule K2). None for a log in memory. Rejects if the server does not answer.
   */
  appendedBlocks(checkpoint: SlotMarker, slots: number): Promise<readonly AppendedBlock[]>
  /**
   * Starts a consumer. Resolves when it has its partitions: it receives everything appended from
   * then on.
   */
  consume(options: ConsumeOptions, handler: BatchHandler): Promise<Consumer>
  /**
   * Resolves when consumer group `group` has committed everything that was acknowledged before the
   * call. Waits without a limit for a group that does not exist yet. Rejects with `closed` if the
   * log is closed or `stop` is aborted.
   */
  settled(group: string, stop: AbortSignal): Promise<void>
  /**
   * Whether a consumer of group `group` runs, in any process. One that was killed counts until the
   * server misses it. Rejects with `unreachable` if the server does not answer.
   */
  hasConsumer(group: string): Promise<boolean>
  /**
   * Resolves when the log answers. Rejects with a retriable ServiceError `unreachable` if it does
   * not.
   */
  ping(): Promise<void>
  /**
   * Resolves while this process can read what its consumers have reached. Rejects with
   * `newer_format` while one has stopped before an entry that a newer version of the service wrote,
   * or the end of the log had one when `checkpoint` read it (rule K18). A log in memory has none.
   */
  checkFormat(): Promise<void>
  /** Stops reading and appending, and closes every connection. */
  close(): Promise<void>
}

/** What a log has. */
export interface LogExtent {
  /**
   * Identity of the log: the id that Kafka gave the topic, or the epoch of a log in memory. A topic
   * that was deleted and created again has another one. Empty if the brokers know none.
   */
  readonly id: string
  /**
   * By partition: offset of the oldest entry, and the offset after the newest one. Entries below
   * `low` have expired or were deleted.
   */
  readonly partitions: ReadonlyMap<number, OffsetRange>
}

/** Offsets of a partition: of its oldest entry, and the one after its newest entry. */
export interface OffsetRange {
  readonly low: bigint
  readonly end: bigint
  /**
   * Offset of the oldest entry that was appended after a given time; `end` if there is none. Only
   * if a time was given.
   */
  readonly later?: bigint
}

/**
 * How to read. `shared`: the consumers of a group share the partitions, and committed offsets
 * belong to the group. `follow`: every process reads every partition, from the records of the last
 * `sinceMs` milliseconds, and commits nothing. It receives no kept transactions.
 */
export type ConsumeOptions =
  | {
      readonly mode: 'shared'
      readonly group: string
      /**
       * Called when partitions are revoked or assigned, and after offsets were lost, before the
       * next batch. State kept for them is stale, unless the reader can tell that nobody had them
       * in between (rule K23). One call at a time; of assignments that come meanwhile only the
       * newest one follows. Returns the offset at which to start, by partition. A partition without
       * one starts at its committed offset, else at its oldest record. If it rejects, the
       * partitions are assigned again.
       */
      onAssigned?(assignment: PartitionLease): Promise<StartOffsets>
    }
  /** `sinceMs` null: from the end on. */
  | { readonly mode: 'follow'; readonly sinceMs: number | null }

/** The partitions of a consumer, and its right to write what follows from them (rule K15). */
export interface PartitionLease {
  readonly partitions: readonly number[]
  /**
   * Resolves with the number of the assignment in its group. Each later assignment has a higher
   * number, until the group is deleted: then they start at 1 again. 0 for a log in memory, of which
   * one process has all partitions. Rejects with `fenced` like `confirm`.
   */
  generation(): Promise<number>
  /**
   * Resolves while no other consumer can have the partitions. Waits for the server if it has not
   * confirmed that lately. Rejects with `fenced` once the partitions are assigned again, with
   * `closed` if it has to wait after `stop`.
   */
  confirm(stop: AbortSignal): Promise<void>
}

/** Offsets at which to start, by partition. */
export type StartOffsets = ReadonlyMap<number, bigint>

/**
 * Handles records of one partition in offset order. Partitions run concurrently, each with one
 * batch at a time. When the promise resolves, the offsets of the batch are committed. When it
 * rejects, or the process dies, the batch is delivered again.
 */
export type BatchHandler<R = LogRecord> = (batch: LogBatch<R>) => Promise<void>

/** Records of one partition, in offset order. */
export interface LogBatch<R = LogRecord> {
  readonly partition: number
  /**
   * When its newest entry was appended, in unix milliseconds by the clock of the broker. In a topic
   * of an earlier version: of the process that appended it.
   */
  readonly time?: number
  readonly records: readonly R[]
}

/**
 * An entry as read. Entries that cannot be parsed are skipped, counted in
 * `log_malformed_records_total`, and logged by offset. An entry that a newer version of the service
 * wrote stops its partition until this process is upgraded; `checkFormat` says so.
 */
export type LogRecord = { readonly offset: bigint } & LogMessage

/** A running consumer. */
export interface Consumer {
  /** Stops after the batches in progress are done and committed. */
  close(): Promise<void>
}
