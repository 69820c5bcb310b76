import type { LogBatch, LogRecord } from './log.ts'

/**
 * The place of a late swap among the late ones: how far its partition had come when it came. Everybody who reads the log finds the same, in every process and after every
 * restart. Ordered by epoch, then passed slot; within a passed slot, by offset in each partition.
 */
export interface LateMark {
  /** `EventLog.epoch` of the log it is on. */
  readonly epoch: number
  /** Slot of the newest marker before it in its partition. */
  readonly passedSlot: number
  readonly partition: number
  /** Its offset there. */
  readonly offset: number
}

/** Tells which entries of the log are late: those for a slot whose marker, or a later one, their partition has shown. */
export class LateOrder {
  readonly epoch: number
  readonly #passed = new Map<number, number>()

  /** `passed`: the newest marker of each partition before the place where reading begins, as far as known. */
  constructor(epoch: number, passed: Iterable<readonly [number, number]> = []) {
    this.epoch = epoch
    for (const [partition, slot] of passed) this.#passed.set(partition, slot)
  }

  /** Slot of the newest marker read, or known, of a partition; null before one. */
  passed(partition: number): number | null {
    return this.#passed.get(partition) ?? null
  }

  /** The newest marker's slot of every partition of which one is known. */
  all(): ReadonlyMap<number, number> {
    return this.#passed
  }

  /** Takes note of a marker; an older one is nothing. */
  pass(partition: number, slot: number): void {
    if (slot > (this.#passed.get(partition) ?? -1)) this.#passed.set(partition, slot)
  }

  /**
   * The mark of an entry that is read now; null for what is not late, and for fetched history,
   * which never goes to a socket (rule K2).
   */
  markOf(partition: LogBatch['partition'], entry: LogRecord): LateMark | null {
    const passedSlot = this.passed(partition)
    if (entry.kind !== 'record' || entry.record.kind !== 'swap' || entry.late === 'backfill')
      return null
    if (passedSlot === null || entry.record.slot > passedSlot) return null
    return { epoch: this.epoch, passedSlot, partition, offset: Number(entry.offset) }
  }
}
