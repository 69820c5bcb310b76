import type { Rewind } from '../domain/slot.ts'
import type { LogBatch, LogRecord } from './log.ts'

/**
 * The place of a late swap in the order of late swaps: how far its partition was when the swap
 * came. Every reader of the log computes the same place, in every process and after every restart.
 * The order is epoch, then passed slot; within a passed slot, offset in each partition.
 */
export interface LateMark {
  /** `EventLog.epoch` of the log that has the swap. */
  readonly epoch: number
  /** Slot of the newest marker before it in its partition. */
  readonly passedSlot: number
  readonly partition: number
  /** Offset of the swap in its partition. */
  readonly offset: number
}

/**
 * Tells which entries are late: those of a slot that is not above the newest marker of their
 * partition.
 */
export class LateOrder {
  readonly epoch: number
  readonly #passed = new Map<number, number>()

  /** `passed`: newest marker of each partition before the place where reading starts, if known. */
  constructor(epoch: number, passed: Iterable<readonly [number, number]> = []) {
    this.epoch = epoch
    for (const [partition, slot] of passed) this.#passed.set(partition, slot)
  }

  /** Returns the slot of the newest known marker of a partition; null if there is none. */
  passed(partition: number): number | null {
    return this.#passed.get(partition) ?? null
  }

  /** Returns the slot of the newest known marker of each partition that has one. */
  all(): ReadonlyMap<number, number> {
    return this.#passed
  }

  /** Records a marker. An older one has no effect. */
  pass(partition: number, slot: number): void {
    if (slot > (this.#passed.get(partition) ?? -1)) this.#passed.set(partition, slot)
  }

  /** Records that markers after the checkpoint of a rewind are void; all if it has none. */
  goBack(partition: number, { checkpoint }: Rewind): void {
    if (checkpoint === null) this.#passed.delete(partition)
    else if (checkpoint.slot < (this.#passed.get(partition) ?? -1))
      this.#passed.set(partition, checkpoint.slot)
  }

  /**
   * Returns the mark of the entry that is read now. Null if it is not a late swap, and for fetched
   * history, which no socket receives (rule K2).
   */
  markOf(partition: LogBatch['partition'], entry: LogRecord): LateMark | null {
    const passedSlot = this.passed(partition)
    if (entry.kind !== 'record' || entry.record.kind !== 'swap' || entry.late === 'backfill')
      return null
    if (passedSlot === null || entry.record.slot > passedSlot) return null
    return { epoch: this.epoch, passedSlot, partition, offset: Number(entry.offset) }
  }
}
