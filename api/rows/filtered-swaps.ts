import { type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import { MOST_EARLIER_SECONDS, type Perturb } from '../../pipeline/domain/perturbation.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { StoredSwap } from '../../pipeline/store/tables/swaps.ts'
import { lateBefore } from '../cursor.ts'
import { readLateKeys } from './feed-rows.ts'
import { readNewestSwaps, type SwapsOf } from './newest-swaps.ts'

/** A page of swaps that match a filter. */
export interface FilteredPage {
  /** Newest first, at most as many as were asked for. */
  readonly swaps: readonly StoredSwap[]
  /** Whether an older swap matches too. */
  readonly hasMore: boolean
  /** Late swaps that are still to come on the feed, as `eventKeyText` (rule F4). */
  readonly unsettled: ReadonlySet<string>
}

/**
 * Reads the newest `limit` swaps that match, strictly older than `before` if given. The filter's
 * times are served ones (rule L4), which differ from the true ones with a salt. `epoch`: of the log
 * that late swaps come from.
 */
export async function readFilteredSwaps(
  store: Store,
  { epoch, perturb, ...of }: SwapsOf & { readonly epoch: number; readonly perturb: Perturb | null },
  before: EventKey | null,
  limit: number,
): Promise<FilteredPage> {
  const { from = null, to = null } = of.filter ?? {}
  const isWithin = (swap: StoredSwap) => {
    if (perturb === null) return true // ClickHouse has compared the time
    const time = swap.blockTime - perturb(swap).earlierSeconds
    return (from === null || time >= from) && (to === null || time < to)
  }
  // Times are served earlier, by no more than this.
  const latest = perturb === null || to === null ? to : to + MOST_EARLIER_SECONDS
  const swaps: StoredSwap[] = []
  for (let position = before; swaps.length <= limit; ) {
    const some = { ...of, filter: { ...of.filter, to: latest } }
    const found = await readNewestSwaps(store, some, position, limit + 1)
    swaps.push(...found.filter(isWithin))
    const last = found.at(-1)
    if (found.length <= limit || last === undefined) break
    position = last
  }
  // After the swaps, so that it has each late one of them.
  const { unsettled } = await readLateKeys(store, lateBefore(epoch, of.stored))
  return { swaps: swaps.slice(0, limit), hasMore: swaps.length > limit, unsettled }
}

/** The swaps of a page that may be served. */
export function settledSwaps({
  swaps,
  unsettled,
}: Pick<FilteredPage, 'swaps' | 'unsettled'>): readonly StoredSwap[] {
  return swaps.filter((swap) => !unsettled.has(eventKeyText(swap)))
}
