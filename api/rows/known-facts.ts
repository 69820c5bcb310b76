import { LRUCache } from 'lru-cache'
import type { StateChange } from '../../pipeline/log/state-log.ts'
import { batches } from '../../pipeline/runtime/batches.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type Facts, readFacts } from '../../pipeline/store/tables/mints.ts'
import type { StateModel } from '../state-reader.ts'

/** A token of which nothing is stored. */
export const NO_FACTS: Facts = { supply: null, symbol: '', name: '' }

/**
 * Stored facts about tokens (rule J8), as far as somebody has asked for them. They are read once,
 * and again after the log of states says that they changed.
 */
export class KnownFacts implements StateModel {
  readonly #known = new LRUCache<string, Facts>({ max: MOST_KNOWN })
  /** Grows with each change: facts that are read meanwhile may be old. */
  #changes = 0
  /** Mints that `symbolOf` did not know. */
  readonly #wanted = new Set<string>()
  #reading: Promise<void> | null = null

  async load(): Promise<void> {}

  apply(changes: readonly StateChange[]): void {
    for (const { table, row } of changes) {
      if (table !== 'mints') continue
      this.#changes += 1
      this.#known.delete(String(row.mint))
    }
  }

  /** Returns the facts about each of these mints. */
  async of(store: Store, mints: Iterable<string>): Promise<ReadonlyMap<string, Facts>> {
    const found = new Map<string, Facts>()
    const missing: string[] = []
    for (const mint of new Set(mints)) {
      const facts = this.#known.get(mint)
      if (facts === undefined) missing.push(mint)
      else found.set(mint, facts)
    }
    for (const some of batches(missing, MINTS_PER_QUERY)) {
      const before = this.#changes
      const stored = await readFacts(store, some)
      for (const mint of some) {
        const facts = stored.get(mint) ?? NO_FACTS
        found.set(mint, facts)
        if (before === this.#changes) this.#known.set(mint, facts)
      }
    }
    return found
  }

  /**
   * Returns the symbol of a mint if it is in memory, else null; it is then read for the next time.
   * A failed read is forgotten: the next call asks again.
   */
  symbolOf(store: Store, mint: string): string | null {
    const facts = this.#known.get(mint)
    if (facts !== undefined) return facts.symbol || null
    if (this.#wanted.size < MOST_WANTED) this.#wanted.add(mint)
    this.#reading ??= this.#readWanted(store).finally(() => {
      this.#reading = null
    })
    return null
  }

  async #readWanted(store: Store): Promise<void> {
    while (this.#wanted.size > 0) {
      const some = [...this.#wanted]
      this.#wanted.clear()
      await this.of(store, some).catch(() => {})
    }
  }
}

/** Some 200 bytes each. */
const MOST_KNOWN = 200_000
const MOST_WANTED = 10_000
const MINTS_PER_QUERY = 1000
