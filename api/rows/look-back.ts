import type { Store } from '../../pipeline/store/store.ts'

/**
 * Lower bound for reading rows written since the last read, in milliseconds of the store's clock.
 * Rows become visible later than their timestamp, so each read overlaps the last one by 5 s, and
 * one in 10 s by 30 s, the longest time that a statement may take.
 */
export class LookbackWindow {
  /** Newest timestamp read; null before the first read. */
  #seenTo: number | null = null
  #wentBackAt = 0

  get hasBegun(): boolean {
    return this.#seenTo !== null
  }

  /** Starts at the store's current time. */
  async begin(store: Store, now: () => number): Promise<void> {
    const [clock] = await store.query<{ ms: string }>(CLOCK)
    this.#seenTo = Number(clock?.ms ?? 0)
    this.#wentBackAt = now()
  }

  /** Returns the bounds of a read at `now`. Pass it to `took` once its rows are applied. */
  next(now: number): LookbackRead {
    const goesBack = now - this.#wentBackAt >= GO_BACK_EVERY_MS
    return { now, goesBack, since: (this.#seenTo ?? 0) - (goesBack ? GO_BACK_MS : OVERLAP_MS) }
  }

  /**
   * Records that the rows of a read were applied. `written_ms` is when each was written
   * (`toUnixTimestamp64Milli`).
   */
  took({ now, goesBack }: LookbackRead, rows: readonly { readonly written_ms: string }[]): void {
    for (const { written_ms } of rows)
      this.#seenTo = Math.max(this.#seenTo ?? 0, Number(written_ms))
    if (goesBack) this.#wentBackAt = now
  }
}

export interface LookbackRead {
  readonly now: number
  readonly goesBack: boolean
  readonly since: number
}

const OVERLAP_MS = 5000
export const GO_BACK_MS = 30_000
export const GO_BACK_EVERY_MS = 10_000

const CLOCK = 'SELECT toUnixTimestamp64Milli(now64(3)) AS ms'
