import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import type { SlotMarker } from '../../pipeline/domain/slot.ts'
import type { LogBatch } from '../../pipeline/log/log.ts'

/**
 * What comes out: a slot that every partition has passed, with its swaps in event-key order; or one swap of a slot that came out before, which
 * is late. Slots come out in slot order, each once; a swap comes out once.
 */
export type Merged =
  | { readonly kind: 'slot'; readonly marker: SlotMarker; readonly swaps: readonly Swap[] }
  | {
      readonly kind: 'late'
      readonly swap: Swap
      /** The newest slot that came out before it. */
      readonly passedSlot: number
    }

/**
 * Makes one order of the partitions of the log (decisions F3, K1-K3): reads each partition in offset order, in whatever interleaving, and
 * lets a slot out once each partition has shown a marker of it or of a later one.
 *
 * A slot may be on the log twice, in part or whole, after a crash: a swap is known by its event key, a repeated marker is nothing. What comes for a slot that
 * is not out yet takes its place there; afterwards it comes out at once, as late. History that was fetched (`backfill`) never comes out. Swaps of slots at
 * or below `forget`, and below `incompleteTo`, are dropped: whether they came out cannot be told any more.
 */
export class SlotMerger {
  /** Slot of the newest marker of each partition. */
  readonly #passed: (number | null)[]
  readonly #hasBegun: boolean[]
  readonly #beganMidway: boolean[]
  /** What is not out yet: markers by slot, swaps by slot and key. */
  readonly #markers = new Map<number, SlotMarker>()
  readonly #waiting = new Map<number, Map<string, Swap>>()
  #waitingSwaps = 0
  /** Keys of what came out, by slot. */
  readonly #known = new Map<number, Set<string>>()
  #forgottenTo = -1
  #incompleteTo = -1
  #newest: SlotMarker | null = null
  #dropped = 0

  constructor(partitions: number) {
    this.#passed = Array.from({ length: partitions }, () => null)
    this.#hasBegun = Array.from({ length: partitions }, () => false)
    this.#beganMidway = Array.from({ length: partitions }, () => false)
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
    return this.#waitingSwaps + this.#markers.size
  }

  /** Swaps dropped so far because their slot is forgotten. */
  get dropped(): number {
    return this.#dropped
  }

  /** Whether no other partition is further behind: reading on here is what lets slots out. */
  isBehind(partition: number): boolean {
    return (this.#passed[partition] ?? -1) <= this.#lowest()
  }

  /** Reads the next records of a partition, or some again. */
  read({ partition, records }: LogBatch): Merged[] {
    const out: Merged[] = []
    for (const record of records) {
      if (!this.#hasBegun[partition]) {
        this.#hasBegun[partition] = true
        this.#beganMidway[partition] = record.offset > 0n
      }
      if (record.kind === 'marker') this.#readMarker(partition, record.marker, out)
      else if (record.kind !== 'record' || record.late === 'backfill') continue
      else if (record.record.kind === 'swap') this.#readSwap(record.record, out)
    }
    return out
  }

  /** Forgets which swaps of slots up to this one came out. */
  forget(slot: number): void {
    if (slot <= this.#forgottenTo) return
    this.#forgottenTo = slot
    for (const known of this.#known.keys()) if (known <= slot) this.#known.delete(known)
  }

  #readMarker(partition: number, marker: SlotMarker, out: Merged[]): void {
    const before = this.#passed[partition] ?? null
    if (before === null && this.#beganMidway[partition])
      this.#incompleteTo = Math.max(this.#incompleteTo, marker.slot)
    if (before !== null && marker.slot <= before) return
    this.#passed[partition] = marker.slot
    if (marker.slot > (this.#newest?.slot ?? -1)) this.#markers.set(marker.slot, marker)
    this.#release(out)
  }

  #readSwap(swap: Swap, out: Merged[]): void {
    const { slot } = swap
    const key = keyInSlot(swap)
    const passedSlot = this.#newest?.slot ?? -1
    if (slot > passedSlot) {
      const swaps = this.#waiting.get(slot) ?? new Map<string, Swap>()
      this.#waiting.set(slot, swaps)
      if (!swaps.has(key)) this.#waitingSwaps++
      swaps.set(key, swap)
    } else if (slot <= this.#forgottenTo || slot < this.#incompleteTo) {
      this.#dropped++
    } else if (this.#remember(slot, key)) {
      out.push({ kind: 'late', swap, passedSlot })
    }
  }

  #release(out: Merged[]): void {
    const lowest = this.#lowest()
    const ready = [...this.#markers.values()].filter(({ slot }) => slot <= lowest)
    for (const marker of ready.sort((a, b) => a.slot - b.slot)) {
      this.#markers.delete(marker.slot)
      this.#newest = marker
      out.push({ kind: 'slot', marker, swaps: this.#take(marker.slot) })
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
    this.#known.set(slot, keys)
    if (keys.has(key)) return false
    keys.add(key)
    return true
  }

  #lowest(): number {
    let lowest = Number.POSITIVE_INFINITY
    for (const slot of this.#passed) lowest = Math.min(lowest, slot ?? -1)
    return lowest
  }
}

function keyInSlot({ txIndex, wallet, eventIndex }: Swap): string {
  return `${txIndex}/${wallet}/${eventIndex}`
}
