import type { Address } from '../../domain/address.ts'
import type { Store } from '../../store/store.ts'

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
      const rows = await store.query<{ mint: Address; told: number }>(QUERY, { mints: wanted })
      for (const mint of wanted) known.set(mint, undefined)
      for (const { mint, told } of rows) known.set(mint, told)
    },
  }
}

const QUERY = `
  SELECT mint, any(decimals) AS told
  FROM (
    SELECT mint, assumeNotNull(decimals) AS decimals FROM mints FINAL WHERE mint IN {mints:Array(String)} AND decimals IS NOT NULL
    UNION ALL
    SELECT base_mint AS mint, base_decimals AS decimals FROM swaps WHERE base_mint IN {mints:Array(String)}
    UNION ALL
    SELECT mint, decimals FROM transfers WHERE mint IN {mints:Array(String)}
  )
  GROUP BY mint`
