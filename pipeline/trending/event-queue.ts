import { compareTimed, type TimedEvent } from './trending-event.ts'

/** Known events that do not count yet, in the order of the times from which they count. */
export class EventQueue {
  /** The waiting events, from index `#next` on. */
  #events: TimedEvent[] = []
  #next = 0
  #isSorted = true

  /** Adds events in any order. */
  add(events: readonly TimedEvent[]): void {
    for (const timed of events) {
      const last = this.#events.at(-1)
      if (last !== undefined && compareTimed(last, timed) > 0) this.#isSorted = false
      this.#events.push(timed)
    }
  }

  /** Removes the events of a token. */
  removeMint(mint: string): void {
    this.#events = this.#events.slice(this.#next).filter(({ event }) => event.mint !== mint)
    this.#next = 0
  }

  /** Removes the events that count by time `at` and passes them to `take`, in order. */
  takeUntil(at: number, take: (timed: TimedEvent) => void): void {
    if (!this.#isSorted) {
      this.#events = this.#events.slice(this.#next).sort(compareTimed)
      this.#next = 0
      this.#isSorted = true
    }
    for (; ; this.#next++) {
      const timed = this.#events[this.#next]
      if (timed === undefined || timed.time > at) break
      take(timed)
    }
    // Cuts the array rarely, not at each tick.
    if (this.#next < 1000 || this.#next * 2 < this.#events.length) return
    this.#events = this.#events.slice(this.#next)
    this.#next = 0
  }
}
