import type { Store } from '../../pipeline/store/store.ts'
import { readFirstSwap } from '../../pipeline/store/tables/swaps.ts'
import type { StoredSlot } from '../state-reader.ts'

/** How far back the feed goes (rule F4). */
export interface Retention {
  /** The newest slot with a swap that is too old to be sent; null when no swap is. */
  floor(stored: StoredSlot): Promise<number | null>
}

/**
 * Creates the retention of a store. Age is block time before the newest stored slot. The floor is
 * found by binary search, as block times rise with slots, and cached for a minute of block time.
 * Each step of the search reads one swap.
 */
export function createRetention(store: Store, hours: number): Retention {
  let cached: { readonly blockTime: number; readonly floor: Promise<number | null> } | null = null

  async function find(stored: StoredSlot): Promise<number | null> {
    const cutoff = stored.blockTime - hours * 3600
    const oldest = await readFirstSwap(store, 0)
    if (oldest === null || oldest.blockTime >= cutoff) return null
    // Invariant: a swap at or after `low` is too old, and none after `high` is.
    let low = oldest.slot
    let high = stored.slot
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const swap = await readFirstSwap(store, middle)
      if (swap !== null && swap.blockTime < cutoff) low = swap.slot
      else high = middle - 1
    }
    return low
  }

  return {
    floor(stored) {
      if (cached === null || stored.blockTime - cached.blockTime > RENEW_SECONDS) {
        const floor = find(stored)
        cached = { blockTime: stored.blockTime, floor }
        floor.catch(() => {
          cached = null
        })
      }
      return cached.floor
    },
  }
}

/** How long a floor is cached, in seconds of block time. */
const RENEW_SECONDS = 60
