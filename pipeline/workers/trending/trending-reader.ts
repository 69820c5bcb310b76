import { compareEventKeys } from '../../domain/event-key.ts'
import type { Store } from '../../store/store.ts'
import { eventOf, newestVersions } from '../../store/tables/event-rows.ts'
import { readFacts } from '../../store/tables/mints.ts'
import { readPoolStates } from '../../store/tables/pool-states.ts'
import { hasCorrectedSwaps, withoutMovedRows } from '../../store/tables/swaps.ts'
import {
  readEventRows,
  readSwapRowsOfMints,
  readTransferRowsOfMints,
  type TokenEventRow,
} from '../../store/tables/token-events.ts'
import type { TokenHistory } from '../../trending/replay-history.ts'
import type { TrendingEvent } from '../../trending/trending-event.ts'

/**
 * Returns the events after slot `after`, in event-key order, and the slot up to which they are all
 * there. That slot is `to`, or an earlier one when there are more than `rows` swaps up to `to`. It
 * is `after` when the slots after it have more than `rows` swaps: ask again for more rows.
 */
export async function readTrendingEvents(
  store: Store,
  after: number,
  to: number,
  rows: number,
): Promise<{ readonly events: TrendingEvent[]; readonly through: number }> {
  const from = after + 1
  const swaps = await readEventRows(store, 'swaps', { from, to, limit: rows })
  // The last slot of a full page may continue beyond it.
  const through = swaps.length === rows ? Number(swaps.at(-1)?.slot) - 1 : to
  if (through < from) return { events: [], through: after }
  const transfers = await readEventRows(store, 'transfers', { from, to: through })
  const complete = swaps.filter((row) => Number(row.slot) <= through)
  return { events: eventsOf(complete, transfers), through }
}

/** Returns the full histories of tokens by mint, with facts and pool states. */
export async function readHistories(
  store: Store,
  mints: readonly string[],
  bounds: {
    /** Newest slot of events. */
    readonly to: number
    /** Slot after which the pools of swaps are read. */
    readonly poolsAfter: number
    /** Ticks of pool states: after the first, up to the second. */
    readonly statesAfter: number
    readonly statesThrough: number
  },
): Promise<ReadonlyMap<string, TokenHistory>> {
  const [swaps, transfers, facts, states] = await Promise.all([
    readSwapRowsOfMints(store, mints, bounds),
    readTransferRowsOfMints(store, mints, bounds.to),
    readFacts(store, mints),
    readPoolStates(store, mints, bounds.statesAfter, bounds.statesThrough),
  ])
  const newest = (await hasCorrectedSwaps(store)) ? await withoutMovedRows(store, swaps) : swaps
  const eventsByMint = groupByMint(eventsOf(newest, transfers))
  const statesByMint = groupByMint(states)
  return new Map(
    mints.map((mint) => [
      mint,
      {
        mint,
        events: eventsByMint.get(mint) ?? [],
        facts: facts.get(mint) ?? null,
        pools: statesByMint.get(mint) ?? [],
      },
    ]),
  )
}

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

/** Groups items by mint; the order within a group stays. */
export function groupByMint<T extends { readonly mint: string }>(
  items: readonly T[],
): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(item.mint)
    if (group === undefined) groups.set(item.mint, [item])
    else group.push(item)
  }
  return groups
}
