import { compareEventKeys, type EventKey } from '../../pipeline/domain/event-key.ts'
import type { LateMark } from '../../pipeline/log/late-order.ts'
import { endOfSlot, type FeedPosition, hasCome, type LatePosition, lateBefore } from '../cursor.ts'

/** A trade of the feed, rendered once for all connections. */
export interface FeedTrade {
  readonly kind: 'trade'
  readonly key: EventKey
  readonly mint: string
  /** Its place among late trades if it came after its slot was sent (rule K2); null otherwise. */
  readonly lateMark: LateMark | null
  /** The frame for live connections. That of a late trade says `late`. */
  readonly live: Buffer
  readonly tradeId: string
  /** JSON of `data`, for frames with another `id`. */
  readonly data: string
  /** The position of a client that has had everything published before this entry. */
  readonly before: FeedPosition
  /** Time of publication, in milliseconds of the relay's clock. */
  readonly at: number
}

/** Skipped slots (rule K2). Its key is the position after them; every client gets the message. */
export interface FeedGap {
  readonly kind: 'gap'
  readonly key: EventKey
  readonly live: Buffer
  readonly at: number
}

/** A trade that was withdrawn after it had been published (rule K9). */
export interface FeedRetraction
  extends Pick<FeedTrade, 'key' | 'mint' | 'lateMark' | 'tradeId' | 'data'> {
  readonly kind: 'retraction'
  /** Place of the withdrawal among late trades; all trades of a slot and a partition share it. */
  readonly withdrawalMark: LateMark
  /** Whether it is the last of its withdrawal: a client that has had it is past the withdrawal. */
  readonly isLast: boolean
  readonly live: Buffer
  readonly at: number
}

/** An entry that the feed publishes. */
export type FeedEntry = FeedTrade | FeedGap | FeedRetraction

/** An entry that comes in the order of late ones. */
export type LateEntry = (FeedTrade & { readonly lateMark: LateMark }) | FeedRetraction

/**
 * The last minutes of the feed in memory, bounded by age and number. Entries are in event-key
 * order; late trades are listed a second time in the order in which they came, with retractions.
 */
export class TradeWindow {
  readonly #maxAgeMs: number
  readonly #maxTrades: number
  /** Live from index `#start` on; evicted entries before it are removed occasionally. */
  #entries: (FeedTrade | FeedGap)[] = []
  #start = 0
  #floor: EventKey
  #late: LateEntry[] = []
  #lateFloor: LatePosition
  #newestLate: LateMark | null = null

  constructor(
    limits: { readonly maxAgeMs: number; readonly maxTrades: number },
    floor: { readonly key: EventKey; readonly late: LatePosition },
  ) {
    this.#maxAgeMs = limits.maxAgeMs
    this.#maxTrades = limits.maxTrades
    this.#floor = floor.key
    this.#lateFloor = floor.late
  }

  /** Every trade after this position is in the window. */
  get floor(): EventKey {
    return this.#floor
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.length - this.#start
  }

  /** Whether the window has everything that a client at this position has not had. */
  covers({ key, late }: FeedPosition): boolean {
    if (compareEventKeys(key, this.#floor) < 0) return false
    const floor = this.#lateFloor
    return late === null || (late.epoch - floor.epoch || late.passedSlot - floor.passedSlot) >= 0
  }

  /** Raises the floor to the end of an incomplete slot. Entries below it stay until evicted. */
  raiseFloor(key: EventKey, epoch: number): void {
    if (compareEventKeys(key, this.#floor) > 0) this.#floor = key
    this.#raiseLateFloor(epoch, key.slot)
  }

  /** Inserts an entry at its place in event-key order. */
  add(entry: FeedEntry): void {
    if (isLate(entry)) {
      this.#late.push(entry)
      this.#newestLate = placeOf(entry)
    }
    if (entry.kind === 'retraction') return
    if (compareEventKeys(entry.key, this.#floor) <= 0) return // never read below the floor
    const newest = this.#entries.at(-1)
    if (newest === undefined || compareEventKeys(entry.key, newest.key) > 0)
      this.#entries.push(entry)
    else this.#entries.splice(this.#start + this.indexAfter(entry.key), 0, entry)
  }

  /**
   * Removes the trades of a slot that `isVoid` selects by wallet, withdrawn at `mark`, and returns
   * them in event-key order. Null if some of the slot were evicted: the window then covers no
   * position before the withdrawal.
   */
  withdraw(slot: number, mark: LateMark, isVoid: (wallet: number) => boolean): FeedTrade[] | null {
    const isOf = <E extends FeedEntry>(entry: E): entry is E & FeedTrade =>
      entry.kind === 'trade' && entry.key.slot === slot && isVoid(entry.key.wallet)
    const from = this.#start + this.indexAfter(endOfSlot(slot - 1))
    const to = this.#start + this.indexAfter(endOfSlot(slot))
    const found = this.#entries.slice(from, to)
    this.#entries.splice(from, to - from, ...found.filter((entry) => !isOf(entry)))
    const late = this.#late.filter(isOf)
    this.#late = this.#late.filter((entry) => !isOf(entry))
    if (slot <= this.#floor.slot) {
      this.#raiseLateFloor(mark.epoch, mark.passedSlot + 1)
      this.#newestLate = mark
      return null
    }
    return [...new Set([...found.filter(isOf), ...late])].sort((a, b) =>
      compareEventKeys(a.key, b.key),
    )
  }

  /** The entry at an index from `indexAfter`; indexes are valid until the next `add` or `evict`. */
  at(index: number): FeedTrade | FeedGap | undefined {
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

  /** Late trades and retractions after a late position, in the order in which they came. */
  lateAfter(late: LatePosition): LateEntry[] {
    let from = this.#late.length
    for (; from > 0; from--) {
      const entry = this.#late[from - 1]
      if (entry === undefined) break
      const { epoch, passedSlot } = placeOf(entry)
      if ((epoch - late.epoch || passedSlot - late.passedSlot) < 0) break
    }
    return this.#late.slice(from).filter((entry) => !hasCome(placeOf(entry), late))
  }

  /** Mark of the newest late trade or withdrawal, also if it was evicted; null for none. */
  get newestLate(): LateMark | null {
    return this.#newestLate
  }

  /**
   * Evicts entries over the bounds, oldest first. `now`: ms of the relay's clock. Returns the slot
   * of the last evicted entry; null when none was evicted.
   */
  evict(now: number): number | null {
    let last: FeedTrade | FeedGap | null = null
    for (let oldest = this.at(0); oldest !== undefined; oldest = this.at(0)) {
      if (this.size <= this.#maxTrades && now - oldest.at <= this.#maxAgeMs) break
      last = oldest
      this.#start++
    }
    this.#evictLate(now)
    if (last === null) return null
    if (compareEventKeys(last.key, this.#floor) > 0) this.#floor = last.key
    // Copying costs time in proportion to the entries, so it is done rarely.
    if (this.#start > 64 && this.#start * 4 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#start)
      this.#start = 0
    }
    return last.key.slot
  }

  #evictLate(now: number): void {
    let gone = 0
    for (const entry of this.#late) {
      if (this.#late.length - gone <= this.#maxTrades && now - entry.at <= this.#maxAgeMs) break
      gone++
      const mark = placeOf(entry)
      this.#raiseLateFloor(mark.epoch, mark.passedSlot + 1)
    }
    if (gone > 0) this.#late = this.#late.slice(gone)
  }

  #raiseLateFloor(epoch: number, passedSlot: number): void {
    const { epoch: was, passedSlot: at } = this.#lateFloor
    if ((epoch - was || passedSlot - at) > 0) this.#lateFloor = lateBefore(epoch, passedSlot)
  }
}

function isLate(entry: FeedEntry): entry is LateEntry {
  return entry.kind === 'retraction' || (entry.kind === 'trade' && entry.lateMark !== null)
}

/** The place of an entry in the order of late ones. */
function placeOf(entry: LateEntry): LateMark {
  return entry.kind === 'retraction' ? entry.withdrawalMark : entry.lateMark
}
