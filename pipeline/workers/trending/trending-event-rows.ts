import { compareEventKeys } from '../../domain/event-key.ts'
import { eventOf, newestVersions } from '../../store/tables/event-rows.ts'
import type { TokenEventRow } from '../../store/tables/token-events.ts'
import type { TrendingEvent } from '../../trending/trending-event.ts'

/** Returns the events of rows of both tables, in event-key order. A tombstone removes an event. */
export function eventsOf(
  swaps: readonly TokenEventRow[],
  transfers: readonly TokenEventRow[],
): TrendingEvent[] {
  return [...newestVersions(swaps), ...newestVersions(transfers)]
    .filter((row) => row.is_deleted === 0)
    .map(eventOf)
    .sort(compareEventKeys)
}
