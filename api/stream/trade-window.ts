import { compareEventKeys, type EventKey } from '../../pipeline/domain/event-key.ts'

/** A trade as the feed sends it, rendered once. */
export interface FeedTrade {
  readonly key: EventKey
  readonly mint: string
  /** It came after its slot had been sent (decisions K2). */
  readonly late: boolean
  /** The message as it goes out live: a late trade is marked, and its `id` is the position reached by then. */
  readonly live: Buffer
  /** The message in the trade's place, for who comes by later. */
  readonly inPlace: Buffer
  /** Whoever has had everything up to here, and nothing after, has not had this trade; late ones apart. */
  readonly before: EventKey
  /** When it came, in milliseconds of the relay's clock. */
  readonly at: number
}

/** The last minutes of trades, in event-key order, bounded by time and number. */
export class TradeWindow {
  readonly #maxAgeMs: number
  readonly #maxTrades: number
  /** From `#start` on; what is before it is cut off now and then. */
  #trades: FeedTrade[] = []
  #start = 0
  #floor: EventKey

  constructor(limits: { readonly maxAgeMs: number; readonly maxTrades: number }, floor: EventKey) {
    this.#maxAgeMs = limits.maxAgeMs
    this.#maxTrades = limits.maxTrades
    this.#floor = floor
  }

  /** Every trade after this position is here; at and before it some are not. */
  get floor(): EventKey {
    return this.#floor
  }

  get size(): number {
    return this.#trades.length - this.#start
  }

  /** Moves the floor up; what is below it stays until its time is over. */
  raiseFloor(position: EventKey): void {
    if (compareEventKeys(position, this.#floor) > 0) this.#floor = position
  }

  /** Puts a trade in its place. */
  add(trade: FeedTrade): void {
    const newest = this.#trades.at(-1)
    if (newest === undefined || compareEventKeys(trade.key, newest.key) > 0)
      this.#trades.push(trade)
    else this.#trades.splice(this.#start + this.indexAfter(trade.key), 0, trade)
  }

  /** The trade at an index from `indexAfter`; indexes are good until the next `add` or `evict`. */
  at(index: number): FeedTrade | undefined {
    return this.#trades[this.#start + index]
  }

  /** Index of the first trade strictly after the position. */
  indexAfter(position: EventKey): number {
    let low = this.#start
    let high = this.#trades.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const trade = this.#trades[middle]
      if (trade !== undefined && compareEventKeys(trade.key, position) <= 0) low = middle + 1
      else high = middle
    }
    return low - this.#start
  }

  /** Drops what is too old or too many, oldest first; gives the last slot of which something was dropped, or null. */
  evict(now: number): number | null {
    let last: FeedTrade | null = null
    for (let oldest = this.at(0); oldest !== undefined; oldest = this.at(0)) {
      if (this.size <= this.#maxTrades && now - oldest.at <= this.#maxAgeMs) break
      last = oldest
      this.#start++
    }
    if (last === null) return null
    this.raiseFloor(last.key)
    // Cutting costs as much as what is kept, so it is done rarely.
    if (this.#start > 64 && this.#start * 4 > this.#trades.length) {
      this.#trades = this.#trades.slice(this.#start)
      this.#start = 0
    }
    return last.key.slot
  }
}
