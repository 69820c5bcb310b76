import type { Store } from '../../pipeline/store/store.ts'
import type { StoredSlot } from '../storage-position.ts'

/** How far back the feed goes (rule F4). */
export interface Retention {
  /** The newest slot with a swap that is too old to be sent; null when none is. */
  floor(stored: StoredSlot): Promise<number | null>
}

/**
 * Measures age in block time from the newest stored slot. The floor is looked for once a minute, by halving: block times rise with slots, and each look reads one swap, so it
 * costs the same however much is stored.
 */
export function createRetention(store: Store, hours: number): Retention {
  let known: { readonly blockTime: number; readonly floor: Promise<number | null> } | null = null

  async function find(stored: StoredSlot): Promise<number | null> {
    const cutoff = stored.blockTime - hours * 3600
    const [oldest] = await store.query<Found>(FIRST, { from: 0 })
    if (oldest === undefined || oldest.block_time >= cutoff) return null
    // A swap at or after `low` is too old, none after `high` is.
    let low = Number(oldest.slot)
    let high = stored.slot
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const [found] = await store.query<Found>(FIRST, { from: middle })
      if (found !== undefined && found.block_time < cutoff) low = Number(found.slot)
      else high = middle - 1
    }
    return low
  }

  return {
    floor(stored) {
      if (known === null || stored.blockTime - known.blockTime > RENEW_SECONDS) {
        const floor = find(stored)
        known = { blockTime: stored.blockTime, floor }
        floor.catch(() => {
          known = null
        })
      }
      return known.floor
    },
  }
}

const RENEW_SECONDS = 60

interface Found {
  readonly slot: string
  readonly block_time: number
}

const FIRST =
  'SELECT slot, block_time FROM swaps WHERE slot >= {from:UInt64} ORDER BY slot, tx_index, wallet, event_index LIMIT 1'
