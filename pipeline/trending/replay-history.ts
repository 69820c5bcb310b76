import { EVICT_SECONDS } from './figures.ts'
import { type TokenBook, tickAt } from './token-book.ts'
import type { TimedEvent } from './trending-event.ts'

/**
 * Books a history and follows the token's stays. They can change only at ticks after swaps, and 24
 * hours after the last one.
 */
export function replayHistory(book: TokenBook, events: readonly TimedEvent[], at: number): void {
  let next = 0
  while (next < events.length) {
    const tick = tickAt(events[next]?.time ?? 0)
    const end = tickAt(book.lastTradeAt + EVICT_SECONDS)
    if (book.lastTradeAt > 0 && end < tick) book.updateStay(end)
    for (; next < events.length; next++) {
      const timed = events[next]
      if (timed === undefined || tickAt(timed.time) !== tick) break
      book.book(timed)
    }
    book.updateStay(tick)
  }
  if (book.lastTradeAt > 0) {
    const end = tickAt(book.lastTradeAt + EVICT_SECONDS)
    if (end <= at) book.updateStay(end)
  }
}
