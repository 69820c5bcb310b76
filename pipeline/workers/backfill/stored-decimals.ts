import type { Address } from '../../domain/address.ts'
import type { Store } from '../../store/store.ts'
import { readDecimals } from '../../store/tables/token-events.ts'

/** Creates a cache of mint decimals read from storage: from mint facts, and from stored events. */
export function createStoredDecimals(store: Store) {
  const known = new Map<Address, number | undefined>()
  return {
    /**
     * Returns the decimals of a mint; undefined when it was not loaded or storage does not know
     * them.
     */
    of: (mint: Address) => known.get(mint),
    /** Loads mints that are not in the cache. */
    async load(mints: readonly Address[]): Promise<void> {
      const wanted = [...new Set(mints)].filter((mint) => !known.has(mint))
      if (wanted.length === 0) return
      const found = await readDecimals(store, wanted)
      for (const mint of wanted) known.set(mint, found.get(mint))
    },
  }
}
