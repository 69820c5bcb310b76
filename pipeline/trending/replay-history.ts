import type { PoolSnapshot } from '../domain/pool-snapshot.ts'
import { EVICT_SECONDS } from './figures.ts'
import type { TokenBook, TokenFacts } from './token-book.ts'
import type { TimedEvent, TrendingEvent } from './trending-event.ts'
import { tickAt } from './watched-token.ts'

/** Everything stored about a token up to the point to which events have been read. */
export interface TokenHistory {
  readonly mint: string
  /** In event-key order. */
  readonly events: readonly TrendingEvent[]
  readonly facts: TokenFacts | null
  /** In the order of `at`. The snapshots of the last hour and the one before them are enough. */
  readonly pools: readonly PoolSnapshot[]
}

/**
 * Books a history and follows the token's listings. They can change only at ticks after swaps, and
 * 24 hours after the last one.
 */
export function replayHistory(book: TokenBook, events: readonly TimedEvent[], at: number): void {
  let next = 0
  while (next < events.length) {
    const tick = tickAt(events[next]?.time ?? 0)
    const end = tickAt(book.lastTradeAt + EVICT_SECONDS)
    if (book.lastTradeAt > 0 && end < tick) book.updateListing(end)
    for (; next < events.length; next++) {
      const timed = events[next]
      if (timed === undefined || tickAt(timed.time) !== tick) break
      book.book(timed)
    }
    book.updateListing(tick)
  }
  if (book.lastTradeAt > 0) {
    const end = tickAt(book.lastTradeAt + EVICT_SECONDS)
    if (end <= at) book.updateListing(end)
  }
}
