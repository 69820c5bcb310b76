import type { Logger } from '../../pipeline/runtime/logger.ts'
import { createOutageLog, type OutageLog } from '../../pipeline/runtime/outage-log.ts'
import { repeat } from '../../pipeline/runtime/repeat.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'

/** Dependencies of uses that are written later. */
export interface LatestUsesDeps {
  readonly store: Store
  readonly logger: Logger
  readonly now: () => number
}

/**
 * The latest use of each of many things, for example of API keys. Uses are kept in memory and
 * written to `table` every ten seconds, never during a request.
 */
export class LatestUses<Use extends { readonly at: number }> {
  readonly #deps: LatestUsesDeps
  readonly #table: string
  readonly #rowOf: (key: string, use: Use) => Row
  /** Uses not written yet. */
  readonly #seen = new Map<string, Use>()
  readonly #outage: OutageLog
  #stopRepeating: () => Promise<void> = async () => {}

  constructor(deps: LatestUsesDeps, table: string, rowOf: (key: string, use: Use) => Row) {
    this.#deps = deps
    this.#table = table
    this.#rowOf = rowOf
    this.#outage = createOutageLog(
      deps.logger,
      'uses could not be stored; will retry',
      'uses are stored again',
    )
  }

  /** The time of a use that happens now, in unix milliseconds. */
  now(): number {
    return this.#deps.now()
  }

  mark(key: string, use: Use): void {
    // At the bound, uses of further keys are dropped: the store is down, and memory is bounded.
    if (this.#seen.size < MOST || this.#seen.has(key)) this.#seen.set(key, use)
  }

  /** Returns a use that is not stored yet. */
  unwritten(key: string): Use | undefined {
    return this.#seen.get(key)
  }

  /** Returns all uses that are not stored yet. */
  allUnwritten(): Iterable<Use> {
    return this.#seen.values()
  }

  start(): void {
    this.#stopRepeating = repeat(EVERY_MS, () => this.#write())
  }

  /** Stops the timer and stores the uses that are still in memory. */
  async stop(): Promise<void> {
    await this.#stopRepeating()
    await this.#write()
  }

  async #write(): Promise<void> {
    if (this.#seen.size === 0) return
    const seen = [...this.#seen]
    try {
      await this.#deps.store.insert(
        this.#table,
        seen.map(([key, use]) => this.#rowOf(key, use)),
      )
      // Until they are stored, reads are answered from memory.
      for (const [key, use] of seen) if (this.#seen.get(key) === use) this.#seen.delete(key)
      this.#outage.worked({ table: this.#table })
    } catch {
      this.#outage.failed({ table: this.#table })
    }
  }
}

const EVERY_MS = 10_000
const MOST = 100_000
