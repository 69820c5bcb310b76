import type { PoolSnapshot } from '../../domain/pool-snapshot.ts'
import type { Store } from '../../store/store.ts'
import { insertPoolStates } from '../../store/tables/pool-states.ts'

/** Live reserves of pools, by mint of the token. */
export interface PoolSource {
  /** Replaces the set of watched pools. */
  watch(pools: readonly { readonly mint: string; readonly pool: string }[]): void
  /** Returns the newest state of a token's pool; undefined while it is unknown. */
  newest(mint: string): (Omit<PoolSnapshot, 'at'> & { readonly slot: number }) | undefined
}

/** Stores the states of watched pools in table `pool_states`, when they have changed. */
export class PoolRecorder {
  readonly #store: Store
  readonly #source: PoolSource | null
  /** The newest stored state by mint, including what an earlier process stored. */
  readonly #stored = new Map<string, PoolSnapshot>()

  /**
   * `source` null: this process follows no pools. `stored`: rows of `pool_states`, oldest first.
   */
  constructor(store: Store, source: PoolSource | null, stored: readonly PoolSnapshot[]) {
    this.#store = store
    this.#source = source
    for (const state of stored) this.#remember(state)
  }

  /**
   * Stores, as of tick `at`, the states that have changed. A pool whose state is unknown now, as in
   * a process that follows no pools, gets a row that says so.
   */
  async record(at: number, watched: readonly { readonly mint: string }[]): Promise<void> {
    const changed: (PoolSnapshot & { readonly slot: number })[] = []
    const known = new Set<string>()
    for (const { mint } of watched) {
      const newest = this.#source?.newest(mint)
      if (newest === undefined) continue
      known.add(mint)
      const { pool, slot, quoteMint, quoteReserve, price } = newest
      const state = { at, mint, pool, slot, quoteMint, quoteReserve, price }
      if (!isSameState(this.#stored.get(mint), state)) changed.push(state)
    }
    for (const mint of this.#stored.keys())
      if (!known.has(mint)) changed.push({ ...UNKNOWN, at, mint })
    if (changed.length === 0) return
    await insertPoolStates(this.#store, changed)
    for (const state of changed) this.#remember(state)
  }

  #remember(state: PoolSnapshot): void {
    if (state.pool === '') this.#stored.delete(state.mint)
    else this.#stored.set(state.mint, state)
  }
}

const UNKNOWN = {
  pool: '',
  slot: 0,
  quoteMint: '',
  quoteReserve: 0n,
  price: { quote: 0n, base: 0n },
} as const

function isSameState(known: PoolSnapshot | undefined, next: PoolSnapshot): boolean {
  return (
    known !== undefined &&
    known.pool === next.pool &&
    known.quoteMint === next.quoteMint &&
    known.quoteReserve === next.quoteReserve &&
    known.price.quote === next.price.quote &&
    known.price.base === next.price.base
  )
}
