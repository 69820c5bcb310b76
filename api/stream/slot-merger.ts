import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { SlotMarker } from '../../pipeline/domain/slot.ts'
import { type LateMark, LateOrder } from '../../pipeline/log/late-order.ts'
import type { LogBatch } from '../../pipeline/log/log.ts'

/**
 * What comes out: a slot that every partition has passed, with its swaps in event-key order; before it, what was passed over if its parent never came; one swap of a
 * slot that came out before, which is late.
 */
export type Merged =
  | { readonly kind: 'slot'; readonly marker: SlotMarker; readonly swaps: readonly Swap[] }
  | { readonly kind: 'gap'; readonly fromSlot: number; readonly toSlot: number }
  | { readonly kind: 'late'; readonly swap: Swap; readonly mark: LateMark }

/** Where the log stood before the place where reading begins. */
export interface MergerStart {
  readonly epoch: number
  /** Marker of the newest slot that every partition had passed. */
  readonly newest?: SlotMarker | null
}

/**
 * Makes one order of the partitions of the log (rules F3, K1-K3): reads each partition in offset order, in whatever interleaving, and
 * lets a slot out once each partition has shown a marker of it or of a later one.
 *
 * A slot may be on the log twice, in part or whole, after a crash: a swap is known by its event key, a repeated marker is nothing. A swap is late when its own
 * partition has shown its slot, or a later one, before; it comes out right after the slot that its partition had passed, or at once when that is out. So slots and late
 * swaps come out in one order in every process, but for late ones behind the same slot, which keep the order of their partition. History that was fetched (`backfill`) never comes out.
 */
export class SlotMerger {
  readonly #order: LateOrder
  readonly #partitions: number
  readonly #hasBegun: boolean[]
  readonly #beganMidway: boolean[]
  /** What is not out yet: markers by slot, swaps by slot and key, late ones in the order they came. */
  readonly #markers = new Map<number, SlotMarker>()
  readonly #waiting = new Map<number, Map<string, Swap>>()
  #late: Extract<Merged, { kind: 'late' }>[] = []
  #waitingSwaps = 0
  /** Keys of what came out, by slot. */
  readonly #known = new Map<number, Set<string>>()
  /** Keys of the last late swaps that came out, whatever their slot. */
  readonly #lateKeys = new Set<string>()
  #forgottenTo = -1
  #incompleteTo = -1
  #newest: SlotMarker | null = null
  /** Slot up to which everything is out, or lies before the place where reading began; null before the first. */
  #reached: number | null = null

  constructor(partitions: number, { epoch, newest = null }: MergerStart) {
    this.#partitions = partitions
    this.#order = new LateOrder(epoch)
    this.#hasBegun = Array.from({ length: partitions }, () => false)
    this.#beganMidway = Array.from({ length: partitions }, () => false)
    if (newest !== null) this.beginAt(newest)
  }

  /** Marker of the newest slot that came out; null before the first. */
  get newest(): SlotMarker | null {
    return this.#newest
  }

  /** The newest slot of which a part may lie before the place where reading began; -1 when reading began with the log. */
  get incompleteTo(): number {
    return this.#incompleteTo
  }

  /** Swaps and markers held back: what memory is spent on while a partition is behind. */
  get size(): number {
    return this.#waitingSwaps + this.#markers.size + this.#late.length
  }

  /** Whether no other partition is further behind: reading on here is what lets slots out. */
  isBehind(partition: number): boolean {
    return (this.#order.passed(partition) ?? -1) <= this.#lowest()
  }

  /** Late swaps of a batch that may have come out before: their slots are forgotten, or older than the place where reading began. */
  doubtful({ partition, records }: LogBatch): { swap: Swap; mark: LateMark }[] {
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
      if (entry.record.slot <= remembered) found.push({ swap: entry.record, mark })
    }
    return found
  }

  /** Reads the next records of a partition, or some again. `out` are the keys of swaps that came out before, of those that were `doubtful`. */
  read({ partition, records }: LogBatch, out: ReadonlySet<string> = NONE): Merged[] {
    const merged: Merged[] = []
    for (const entry of records) {
      if (!this.#hasBegun[partition]) {
        this.#hasBegun[partition] = true
        this.#beganMidway[partition] = entry.offset > 0n
      }
      if (entry.kind === 'marker') this.#readMarker(partition, entry.marker, merged)
      else if (
        entry.kind === 'record' &&
        entry.record.kind === 'swap' &&
        entry.late !== 'backfill'
      ) {
        const mark = this.#order.markOf(partition, entry)
        if (mark === null) this.#keep(entry.record)
        else if (!out.has(eventKeyText(entry.record))) this.#readLate(entry.record, mark, merged)
      }
    }
    return merged
  }

  /** Forgets which swaps of slots up to this one came out. */
  forget(slot: number): void {
    if (slot <= this.#forgottenTo) return
    this.#forgottenTo = slot
    for (const known of this.#known.keys()) if (known <= slot) this.#known.delete(known)
  }

  /** Takes a marker that every partition has, and nothing after it that was not read, for the place where reading began. */
  beginAt(marker: SlotMarker): void {
    for (let partition = 0; partition < this.#partitions; partition++)
      this.#order.pass(partition, marker.slot)
    this.#reached ??= marker.slot
    this.#incompleteTo = Math.max(this.#incompleteTo, marker.slot)
  }

  #readMarker(partition: number, marker: SlotMarker, merged: Merged[]): void {
    const before = this.#order.passed(partition)
    if (before === null && this.#beganMidway[partition])
      this.#incompleteTo = Math.max(this.#incompleteTo, marker.slot)
    if (before !== null && marker.slot <= before) return
    this.#order.pass(partition, marker.slot)
    if (marker.slot > (this.#reached ?? -1)) this.#markers.set(marker.slot, marker)
    this.#release(merged)
  }

  #keep(swap: Swap): void {
    const swaps = this.#waiting.get(swap.slot) ?? new Map<string, Swap>()
    this.#waiting.set(swap.slot, swaps)
    const key = keyInSlot(swap)
    if (!swaps.has(key)) this.#waitingSwaps++
    swaps.set(key, swap)
  }

  #readLate(swap: Swap, mark: LateMark, merged: Merged[]): void {
    if (this.#waiting.get(swap.slot)?.has(keyInSlot(swap))) return // again, before its slot is out
    const key = eventKeyText(swap)
    if (this.#lateKeys.has(key) || !this.#remember(swap.slot, keyInSlot(swap))) return
    const [oldest] = this.#lateKeys
    if (this.#lateKeys.size >= MAX_LATE_KEYS && oldest !== undefined) this.#lateKeys.delete(oldest)
    this.#lateKeys.add(key)
    const late = { kind: 'late', swap, mark } as const
    if (mark.passedSlot <= (this.#reached ?? -1)) merged.push(late)
    else this.#late.push(late)
  }

  #release(merged: Merged[]): void {
    const lowest = this.#lowest()
    const ready = [...this.#markers.values()].filter(({ slot }) => slot <= lowest)
    for (const marker of ready.sort((a, b) => a.slot - b.slot)) {
      this.#markers.delete(marker.slot)
      const fromSlot = this.#reached ?? marker.parent
      if (marker.parent > fromSlot) merged.push({ kind: 'gap', fromSlot, toSlot: marker.parent })
      this.#newest = marker
      this.#reached = marker.slot
      merged.push({ kind: 'slot', marker, swaps: this.#take(marker.slot) })
      if (this.#late.length === 0) continue
      merged.push(...this.#late.filter(({ mark }) => mark.passedSlot <= marker.slot))
      this.#late = this.#late.filter(({ mark }) => mark.passedSlot > marker.slot)
    }
  }

  /** The swaps that wait for this slot, or for one before it that has no marker because it left the chain. */
  #take(slot: number): Swap[] {
    const taken: Swap[] = []
    for (const [waiting, swaps] of this.#waiting) {
      if (waiting > slot) continue
      this.#waiting.delete(waiting)
      this.#waitingSwaps -= swaps.size
      if (waiting < this.#incompleteTo) continue
      for (const [key, swap] of swaps) if (this.#remember(waiting, key)) taken.push(swap)
    }
    return taken.sort(compareEventKeys)
  }

  /** False when it is known already. */
  #remember(slot: number, key: string): boolean {
    const keys = this.#known.get(slot) ?? new Set<string>()
    if (slot > this.#forgottenTo) this.#known.set(slot, keys)
    if (keys.has(key)) return false
    keys.add(key)
    return true
  }

  #lowest(): number {
    let lowest = Number.POSITIVE_INFINITY
    for (let partition = 0; partition < this.#partitions; partition++)
      lowest = Math.min(lowest, this.#order.passed(partition) ?? -1)
    return lowest
  }
}

const NONE: ReadonlySet<string> = new Set()
const MAX_LATE_KEYS = 10_000

function keyInSlot({ txIndex, wallet, eventIndex }: Swap): string {
  return `${txIndex}/${wallet}/${eventIndex}`
}
