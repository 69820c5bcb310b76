import { compareEventKeys, type EventKey } from '../../pipeline/domain/event-key.ts'
import type { LateMark } from '../../pipeline/log/late-order.ts'
import { type FeedPosition, hasCome, type LatePosition, lateBefore } from '../cursor.ts'

/** A trade as the feed sends it, rendered once. */
export interface FeedTrade {
  readonly kind: 'trade'
  readonly key: EventKey
  readonly mint: string
  /** Its place among the late ones, when it came after its slot had been sent (rule K2). */
  readonly mark: LateMark | null
  /** The frame as it goes out live: a late trade is marked, and its `id` is the position reached by then. */
  readonly live: Buffer
  /** `data` of the message, to be sent with another `id`. */
  readonly data: string
  /** Whoever is here has had everything that went out before it. */
  readonly before: FeedPosition
  /** When it came, in milliseconds of the relay's clock. */
  readonly at: number
}

/** Some slots were passed over (rule K2): at its key, which is the position after them, everybody is told. */
export interface FeedGap {
  readonly kind: 'gap'
  readonly key: EventKey
  readonly live: Buffer
  readonly before: FeedPosition
  readonly at: number
}

export type FeedEntry = FeedTrade | FeedGap

/** The last minutes of trades, in event-key order, and of late ones in the order in which they came, bounded by time and number. */
export class TradeWindow {
  readonly #maxAgeMs: number
  readonly #maxTrades: number
  /** From `#start` on; what is before it is cut off now and then. */
  #entries: FeedEntry[] = []
  #start = 0
  #floor: EventKey
  #late: FeedTrade[] = []
  #lateFloor: LatePosition

  constructor(
    limits: { readonly maxAgeMs: number; readonly maxTrades: number },
    floor: { readonly key: EventKey; readonly late: LatePosition },
  ) {
    this.#maxAgeMs = limits.maxAgeMs
    this.#maxTrades = limits.maxTrades
    this.#floor = floor.key
    this.#lateFloor = floor.late
  }

  /** Every trade after this position is here; at and before it some are not. */
  get floor(): EventKey {
    return this.#floor
  }

  get size(): number {
    return this.#entries.length - this.#start
  }

  /** Whether everything that somebody at this position has not had is here. */
  covers({ key, late }: FeedPosition): boolean {
    if (compareEventKeys(key, this.#floor) < 0) return false
    const floor = this.#lateFloor
    return late === null || (late.epoch - floor.epoch || late.passedSlot - floor.passedSlot) >= 0
  }

  /** Moves the floor up to the end of a slot up to which something is missing; what is below it stays until its time is over. */
  raiseFloor(key: EventKey, epoch: number): void {
    if (compareEventKeys(key, this.#floor) > 0) this.#floor = key
    this.#raiseLateFloor(epoch, key.slot)
  }

  /** Puts an entry in its place. */
  add(entry: FeedEntry): void {
    if (entry.kind === 'trade' && entry.mark !== null) this.#late.push(entry)
    if (compareEventKeys(entry.key, this.#floor) <= 0) return // nobody walks there
    const newest = this.#entries.at(-1)
    if (newest === undefined || compareEventKeys(entry.key, newest.key) > 0)
      this.#entries.push(entry)
    else this.#entries.splice(this.#start + this.indexAfter(entry.key), 0, entry)
  }

  /** The entry at an index from `indexAfter`; indexes are good until the next `add` or `evict`. */
  at(index: number): FeedEntry | undefined {
    return this.#entries[this.#start + index]
  }

  /** Index of the first entry strictly after the position. */
  indexAfter(position: EventKey): number {
    let low = this.#start
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const entry = this.#entries[middle]
      if (entry !== undefined && compareEventKeys(entry.key, position) <= 0) low = middle + 1
      else high = middle
    }
    return low - this.#start
  }

  /** Late trades that had not come by a position, in the order in which they came. */
  lateAfter(late: LatePosition): FeedTrade[] {
    let from = this.#late.length
    for (; from > 0; from--) {
      const mark = this.#late[from - 1]?.mark
      if (mark && (mark.epoch - late.epoch || mark.passedSlot - late.passedSlot) < 0) break
    }
    return this.#late.slice(from).filter(({ mark }) => mark !== null && !hasCome(mark, late))
  }

  /** Mark of the newest late trade; null when none is here. */
  get newestLate(): LateMark | null {
    return this.#late.at(-1)?.mark ?? null
  }

  /** Drops what is too old or too many, oldest first; gives the last slot of which something was dropped, or null. */
  evict(now: number): number | null {
    let last: FeedEntry | null = null
    for (let oldest = this.at(0); oldest !== undefined; oldest = this.at(0)) {
      if (this.size <= this.#maxTrades && now - oldest.at <= this.#maxAgeMs) break
      last = oldest
      this.#start++
    }
    this.#evictLate(now)
    if (last === null) return null
    if (compareEventKeys(last.key, this.#floor) > 0) this.#floor = last.key
    // Cutting costs as much as what is kept, so it is done rarely.
    if (this.#start > 64 && this.#start * 4 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#start)
      this.#start = 0
    }
    return last.key.slot
  }

  #evictLate(now: number): void {
    let gone = 0
    for (const { at, mark } of this.#late) {
      if (this.#late.length - gone <= this.#maxTrades && now - at <= this.#maxAgeMs) break
      gone++
      if (mark !== null) this.#raiseLateFloor(mark.epoch, mark.passedSlot + 1)
    }
    if (gone > 0) this.#late = this.#late.slice(gone)
  }

  #raiseLateFloor(epoch: number, passedSlot: number): void {
    const { epoch: was, passedSlot: at } = this.#lateFloor
    if ((epoch - was || passedSlot - at) > 0) this.#lateFloor = lateBefore(epoch, passedSlot)
  }
}
