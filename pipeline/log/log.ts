import type { RefoldRequest, SlotMarker, SlotRecords, WalletRecord } from '../domain/slot.ts'
import type { LateOrigin, RecordMessage } from './log-message.ts'

/**
 * The log of wallet events, the contract between the halves of the service: Kafka in production
 * (`kafka.ts`), memory in one process (`memory.ts`); both pass `log.contract.ts`. A record's key is
 * its wallet's alias, so that one partition has a wallet's records in order; a slot's marker goes
 * to every partition after the slot's records (rules K2, K3).
 */
export interface EventLog {
  readonly partitions: number
  /** 0 for a log that outlives processes; one in memory has its own, higher than of all before it: unix milliseconds at its start. */
  readonly epoch: number
  /**
   * Appends a sealed slot. Resolves when all its records and its marker on every partition are acknowledged. Slots are appended in the
   * order of the calls, also when the caller does not wait; a caller keeps a bounded number unacknowledged, which is what bounds memory.
   * A lost server is waited for, without end. Rejects with a ServiceError only when the log is closed (`closed`) or broken for good
   * (`internal`: end the process); what was appended may then be there in part, and appending the slot again is harmless (everything
   * downstream is idempotent by event key).
   */
  appendSlot(slot: SlotRecords): Promise<void>
  /**
   * Appends records of transactions that came after their slot was sealed (rule K2); they carry
   * `late: true`.
   */
  appendLate(records: readonly WalletRecord[], origin: LateOrigin): Promise<void>
  /** Appends requests to fold wallets anew, each on its wallet's partition: after whatever was appended before of the wallet. */
  appendRefolds(refolds: readonly RefoldRequest[]): Promise<void>
  /** The newest marker present in every partition; null on an empty log. Memory logs always start empty. */
  checkpoint(): Promise<SlotMarker | null>
  /** Starts a consumer; resolves when it has its partitions, so that it sees whatever is appended from then on. */
  consume(options: ConsumeOptions, handler: BatchHandler): Promise<Consumer>
  /**
   * Resolves when consumer group `group` has committed everything that was acknowledged before the call; waits, without end, for a group that is not
   * there. Rejects with `closed` when the log is closed or `stop` is aborted.
   */
  settled(group: string, stop: AbortSignal): Promise<void>
  /** Resolves when the log answers, rejects with a retriable ServiceError `unreachable` when not. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** What every consumer may say. */
interface ConsumerHooks {
  /** Called when partitions are taken away or newly given, before the first batch of them. State held for them is stale. */
  onAssigned?(partitions: readonly number[]): Promise<void>
}

/**
 * How to read. `shared`: the consumers of a group share the partitions, committed offsets belong to the group, a partition without one starts
 * at its oldest record. `follow` (the relay): sees every partition in every process, starts with what was appended in the last `sinceMs`
 * milliseconds, commits nothing; kept transactions are not handed to it.
 */
export type ConsumeOptions = ConsumerHooks &
  (
    | { readonly mode: 'shared'; readonly group: string }
    | { readonly mode: 'follow'; readonly sinceMs: number }
  )

/**
 * Gets records of one partition in offset order. Partitions run side by side, each with one batch at a time. The batch counts as done when
 * the promise resolves (its offsets are then committed); when it rejects or the process dies, it is handed out again.
 */
export type BatchHandler = (batch: LogBatch) => Promise<void>

export interface LogBatch {
  readonly partition: number
  readonly records: readonly LogRecord[]
}

/**
 * One record as read. Records that cannot be parsed are skipped, counted in `log_malformed_records_total` and logged by offset; one that a newer
 * version of the service wrote stops its partition until this process is upgraded.
 */
export type LogRecord = { readonly offset: bigint } & (
  | { readonly kind: 'marker'; readonly marker: SlotMarker }
  | ({ readonly kind: 'record' } & RecordMessage)
  | { readonly kind: 'refold'; readonly refold: RefoldRequest }
)

export interface Consumer {
  /** Stops after the batches in hand are done and committed. */
  close(): Promise<void>
}
