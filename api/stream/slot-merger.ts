import type { BlockId } from '../../pipeline/domain/block-id.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys, eventKeyText } from '../../pipeline/domain/event-key.ts'
import {
  checkpointSlot,
  isLater,
  type Rewind,
  type SlotMarker,
  type Withdrawal,
} from '../../pipeline/domain/slot.ts'
import { type LateMark, LateOrder } from '../../pipeline/log/late-order.ts'
import type { LogBatch } from '../../pipeline/log/log.ts'
import { partitionOf } from '../../pipeline/log/topics.ts'

/**
 * An output of the merger. `slot`: every partition has passed it; its swaps are in event-key order.
 * `gap`: skipped slots after `fromSlot` up to `toSlot`, before a slot whose parent never came.
 * `late`: one swap of a slot that was released before. `withdrawn`: the released swaps of a slot
 * and a partition are void; `mark` is the place of the withdrawal.
 */
export type MergerOutput =
  | { readonly kind: 'slot'; readonly marker: SlotMarker; readonly swaps: readonly Swap[] }
  | { readonly kind: 'gap'; readonly fromSlot: number; readonly toSlot: number }
  | {
      readonly kind: 'late'
      readonly swap: Swap
      readonly blockId: BlockId | null
      readonly mark: LateMark
    }
  | { readonly kind: 'withdrawn'; readonly withdrawal: Withdrawal; readonly mark: LateMark }

type LateOutput = Extract<MergerOutput, { kind: 'late' }>

/** The state of the log before the place where reading starts. */
export interface MergerStart {
  /** Epoch of the log. */
  readonly epoch: number
  /** Marker of the newest slot that every partition had passed; null for none. */
  readonly newest?: SlotMarker | null
  /** Whether storage may have slots from an earlier log than this one (rule K10). */
  readonly followsOther?: boolean
}

/**
 * Merges the partitions of the log into one order (rules F3, K1-K3). Each partition is read in
 * offset order, in any interleaving. A slot is released once every partition has a marker of it or
 * of a later slot.
 *
 * After a crash a slot may be on the log twice, in part or whole: swaps are deduplicated by event
 * key, and a repeated marker has no effect.
 *
 * A swap is late when its own partition had a marker of its slot, or of a later one, before it. It
 * is released right after the slot that its partition had passed, or at once if that was released.
 * So every process has one order of slots and late swaps. The exception is late swaps of different
 * partitions after the same slot: only those of one partition are in order. Fetched history
 * (`backfill`) is never released.
 *
 * A withdrawal (rule K9) is read alone, once `isReady`: everything that its partition had passed is
 * then released, so that every process has the same order. The withdrawals of a rewind are not:
 * they drop what was read of slots that were not appended whole. No slot after the checkpoint is
 * released before every partition has read them.
 */
export class SlotMerger {
  readonly #order: LateOrder
  readonly #partitions: number
  readonly #followsOther: boolean
  /** By partition: whether a record was read, and whether the first one was not the log's first. */
  readonly #hasStarted: boolean[]
  readonly #startedMidway: boolean[]
  /** Markers by slot that are not released. */
  readonly #markers = new Map<number, SlotMarker>()
  /** Swaps that are not released, by slot and by key in the slot. */
  readonly #waiting = new Map<number, Map<string, Swap>>()
  #waitingSwaps = 0
  /** Late swaps that are not released, in the order in which they were read. */
  #waitingLate: LateOutput[] = []
  /** Keys of released swaps by slot, down to `#forgottenTo`. */
  readonly #releasedKeys = new Map<number, Set<string>>()
  /** Event keys of the newest late swaps read, of any slot; bounded. */
  readonly #lateKeys = new Set<string>()
  /** The newest rewind, its last slot, and the partitions that have read it. */
  #rewind: { readonly to: Rewind; lastSlot: number; readonly partitions: Set<number> } | null = null
  /** Slots withdrawn per partition, the newest: what comes late of them was not released before. */
  readonly #withdrawn = new Set<string>()
  #forgottenTo = -1
  #incompleteTo = -1
  #newest: SlotMarker | null = null
  /** Slots up to here are released or lie before the place where reading started; null for none. */
  #releasedTo: number | null = null

  constructor(partitions: number, { epoch, newest = null, followsOther = false }: MergerStart) {
    this.#partitions = partitions
    this.#followsOther = followsOther
    this.#order = new LateOrder(epoch)
    this.#hasStarted = Array.from({ length: partitions }, () => false)
    this.#startedMidway = Array.from({ length: partitions }, () => false)
    if (newest !== null) this.beginAt(newest)
  }

  /** Marker of the newest released slot; null before the first. */
  get newest(): SlotMarker | null {
    return this.#newest
  }

  /**
   * The newest slot of which a part may lie before the place where reading started; -1 when reading
   * started at the beginning of the only log so far.
   */
  get incompleteTo(): number {
    return this.#incompleteTo
  }

  /** Number of buffered swaps and markers: the memory used while a partition is behind. */
  get size(): number {
    return this.#waitingSwaps + this.#markers.size + this.#waitingLate.length
  }

  /** Whether everything that this partition had passed is released. */
  isReady(partition: number): boolean {
    return this.#passed(partition) <= (this.#releasedTo ?? -1)
  }

  /** Whether this partition is the furthest behind: only reading it releases slots. */
  isBehind(partition: number): boolean {
    return this.#passed(partition) <= this.#lowestPassed()
  }

  /**
   * Returns the late swaps of a batch that may have been released before. Their slots are
   * forgotten, or older than the place where reading started.
   */
  findSuspects({ partition, records }: LogBatch): { swap: Swap; mark: LateMark }[] {
    const remembered = Math.max(this.#forgottenTo, this.#incompleteTo)
    const passed = this.#order.passed(partition)
    const order = new LateOrder(
      this.#order.epoch,
      passed === null ? [] : [[partition, passed] as const],
    )
    const found: { swap: Swap; mark: LateMark }[] = []
    for (const entry of records) {
      if (entry.kind === 'marker') order.pass(partition, entry.marker.slot)
      const mark = order.markOf(partition, entry)
      if (mark === null || entry.kind !== 'record' || entry.record.kind !== 'swap') continue
      const isOther = this.#withdrawn.has(`${partition}/${entry.record.slot}`)
      if (entry.record.slot <= remembered && !isOther) found.push({ swap: entry.record, mark })
    }
    return found
  }

  /**
   * Reads the next records of a partition, or repeated ones, and returns what they release.
   * `duplicates`: event keys of those results of `findSuspects` that were released before.
   */
  read({ partition, records }: LogBatch, duplicates: ReadonlySet<string> = NONE): MergerOutput[] {
    const outputs: MergerOutput[] = []
    for (const entry of records) {
      if (!this.#hasStarted[partition]) {
        this.#hasStarted[partition] = true
        this.#startedMidway[partition] = entry.offset > 0n
      }
      if (entry.kind === 'marker') this.#readMarker(partition, entry.marker, outputs)
      else if (entry.kind === 'withdrawal')
        this.#withdraw(partition, entry.withdrawal, Number(entry.offset), outputs)
      else if (
        entry.kind === 'record' &&
        entry.record.kind === 'swap' &&
        entry.late !== 'backfill'
      ) {
        const mark = this.#order.markOf(partition, entry)
        if (mark === null) this.#buffer(entry.record)
        else if (!duplicates.has(eventKeyText(entry.record)))
          this.#readLate({ swap: entry.record, blockId: entry.blockId ?? null, mark }, outputs)
      }
    }
    return outputs
  }

  #withdraw(
    partition: number,
    withdrawal: Withdrawal,
    offset: number,
    outputs: MergerOutput[],
  ): void {
    const { slot, rewind } = withdrawal
    this.#dropWaiting(partition, slot)
    if (rewind !== null) this.#goBack(partition, slot, rewind)
    const passedSlot = this.#order.passed(partition)
    if (rewind !== null || passedSlot === null) return
    this.#forgetKeys(partition, slot)
    const [oldest] = this.#withdrawn
    if (this.#withdrawn.size >= MAX_WITHDRAWN && oldest !== undefined)
      this.#withdrawn.delete(oldest)
    this.#withdrawn.add(`${partition}/${slot}`)
    const mark = { epoch: this.#order.epoch, passedSlot, partition, offset }
    outputs.push({ kind: 'withdrawn', withdrawal, mark })
  }

  /** Forgets the void markers of a rewind. Each partition reads those that count after it. */
  #goBack(partition: number, slot: number, to: Rewind): void {
    this.#order.goBack(partition, to)
    for (const known of this.#markers.keys())
      if (known > checkpointSlot(to)) this.#markers.delete(known)
    const newest = this.#rewind
    if (newest === null || isLater(to, newest.to))
      this.#rewind = { to, lastSlot: slot, partitions: new Set([partition]) }
    else if (!isLater(newest.to, to)) {
      newest.partitions.add(partition)
      newest.lastSlot = Math.max(newest.lastSlot, slot)
    }
  }

  #dropWaiting(partition: number, slot: number): void {
    const swaps = this.#waiting.get(slot)
    if (swaps === undefined) return
    for (const [key, { wallet }] of swaps)
      if (partitionOf(wallet, this.#partitions) === partition && swaps.delete(key))
        this.#waitingSwaps--
  }

  /**
   * Forgets which swaps of a withdrawn slot were released, so that those of the finalized block are
   * released too, as late ones.
   */
  #forgetKeys(partition: number, slot: number): void {
    const isOf = (wallet: string | undefined) =>
      partitionOf(Number(wallet), this.#partitions) === partition
    const released = this.#releasedKeys.get(slot) ?? new Set<string>()
    for (const key of [...released]) if (isOf(key.split('/')[1])) released.delete(key)
    for (const key of [...this.#lateKeys]) {
      const [ofSlot, , wallet] = key.split('/')
      if (Number(ofSlot) === slot && isOf(wallet)) this.#lateKeys.delete(key)
    }
  }

  /** Frees the keys of released swaps of slots up to this one. */
  forget(slot: number): void {
    if (slot <= this.#forgottenTo) return
    this.#forgottenTo = slot
    for (const known of this.#releasedKeys.keys())
      if (known <= slot) this.#releasedKeys.delete(known)
  }

  /** Starts after a marker that every partition has and after which nothing is unread. */
  beginAt(marker: SlotMarker): void {
    for (let partition = 0; partition < this.#partitions; partition++)
      this.#order.pass(partition, marker.slot)
    this.#releasedTo ??= marker.slot
    this.#incompleteTo = Math.max(this.#incompleteTo, marker.slot)
  }

  #readMarker(partition: number, marker: SlotMarker, outputs: MergerOutput[]): void {
    const before = this.#order.passed(partition)
    if (before === null && this.#startedMidway[partition])
      this.#incompleteTo = Math.max(this.#incompleteTo, marker.slot)
    else if (before === null && this.#followsOther)
      this.#incompleteTo = Math.max(this.#incompleteTo, marker.parent)
    if (before !== null && marker.slot <= before) return
    this.#order.pass(partition, marker.slot)
    if (marker.slot > (this.#releasedTo ?? -1)) this.#markers.set(marker.slot, marker)
    this.#release(outputs)
  }

  #buffer(swap: Swap): void {
    const swaps = this.#waiting.get(swap.slot) ?? new Map<string, Swap>()
    this.#waiting.set(swap.slot, swaps)
    const key = keyInSlot(swap)
    if (!swaps.has(key)) this.#waitingSwaps++
    swaps.set(key, swap)
  }

  #readLate(late: Omit<LateOutput, 'kind'>, outputs: MergerOutput[]): void {
    const { swap, mark } = late
    // A duplicate whose slot is not released yet.
    if (this.#waiting.get(swap.slot)?.has(keyInSlot(swap))) return
    const key = eventKeyText(swap)
    if (this.#lateKeys.has(key) || !this.#recordReleased(swap.slot, keyInSlot(swap))) return
    const [oldest] = this.#lateKeys
    if (this.#lateKeys.size >= MAX_LATE_KEYS && oldest !== undefined) this.#lateKeys.delete(oldest)
    this.#lateKeys.add(key)
    const output = { kind: 'late' as const, ...late }
    if (mark.passedSlot <= (this.#releasedTo ?? -1)) outputs.push(output)
    else this.#waitingLate.push(output)
  }

  #release(outputs: MergerOutput[]): void {
    const lowest = this.#lowestPassed()
    if (lowest <= (this.#releasedTo ?? -1)) return
    const ready = [...this.#markers.values()].filter(({ slot }) => slot <= lowest)
    for (const marker of ready.sort((a, b) => a.slot - b.slot)) {
      this.#markers.delete(marker.slot)
      const fromSlot = this.#releasedTo ?? marker.parent
      if (marker.parent > fromSlot) outputs.push({ kind: 'gap', fromSlot, toSlot: marker.parent })
      this.#newest = marker
      this.#releasedTo = marker.slot
      outputs.push({ kind: 'slot', marker, swaps: this.#take(marker.slot) })
      if (this.#waitingLate.length === 0) continue
      outputs.push(...this.#waitingLate.filter(({ mark }) => mark.passedSlot <= marker.slot))
      this.#waitingLate = this.#waitingLate.filter(({ mark }) => mark.passedSlot > marker.slot)
    }
  }

  /**
   * Removes and returns the buffered swaps of this slot and of earlier ones. Earlier ones have no
   * marker because their slot left the chain.
   */
  #take(slot: number): Swap[] {
    const taken: Swap[] = []
    for (const [waiting, swaps] of this.#waiting) {
      if (waiting > slot) continue
      this.#waiting.delete(waiting)
      this.#waitingSwaps -= swaps.size
      if (waiting < this.#incompleteTo) continue
      for (const [key, swap] of swaps) if (this.#recordReleased(waiting, key)) taken.push(swap)
    }
    return taken.sort(compareEventKeys)
  }

  /** Records a released swap. False if it was recorded before. */
  #recordReleased(slot: number, key: string): boolean {
    const keys = this.#releasedKeys.get(slot) ?? new Set<string>()
    if (slot > this.#forgottenTo) this.#releasedKeys.set(slot, keys)
    if (keys.has(key)) return false
    keys.add(key)
    return true
  }

  /**
   * The newest slot that a partition has passed; -1 before the first. Markers after the checkpoint
   * of a rewind are void until the partition has read it. Those after its last slot follow it.
   */
  #passed(partition: number): number {
    const passed = this.#order.passed(partition) ?? -1
    if (this.#rewind === null) return passed
    const { to, lastSlot, partitions } = this.#rewind
    const isVoid = passed <= lastSlot && !partitions.has(partition)
    return isVoid ? Math.min(passed, checkpointSlot(to)) : passed
  }

  /** The newest slot that every partition has passed; -1 before the first. */
  #lowestPassed(): number {
    let lowest = Number.POSITIVE_INFINITY
    for (let partition = 0; partition < this.#partitions; partition++)
      lowest = Math.min(lowest, this.#passed(partition))
    return lowest
  }
}

const NONE: ReadonlySet<string> = new Set()
const MAX_LATE_KEYS = 10_000
const MAX_WITHDRAWN = 10_000

function keyInSlot({ txIndex, wallet, eventIndex }: Swap): string {
  return `${txIndex}/${wallet}/${eventIndex}`
}
