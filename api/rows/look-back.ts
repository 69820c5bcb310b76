import type { Store } from '../../pipeline/store/store.ts'

/**
 * From when on to read rows that were written since the last look, in milliseconds of the store's
 * clock. Rows become visible later than they are dated: each look goes back 5 s, and every 10 s one
 * goes back 30 s, which is as long as a statement may take.
 */
export class LookbackWindow {
  /** Up to when rows were seen; null before the first look. */
  #seenTo: number | null = null
  #wentBackAt = 0

  get hasBegun(): boolean {
    return this.#seenTo !== null
  }

  /** Begins with what is written from now on. */
  async begin(store: Store, now: () => number): Promise<void> {
    const [clock] = await store.query<{ ms: string }>(CLOCK)
    this.#seenTo = Number(clock?.ms ?? 0)
    this.#wentBackAt = now()
  }

  /** What to look at `now` for; `took` it when it has been taken in. */
  next(now: number): LookbackRead {
    const goesBack = now - this.#wentBackAt >= GO_BACK_EVERY_MS
    return { now, goesBack, since: (this.#seenTo ?? 0) - (goesBack ? GO_BACK_MS : OVERLAP_MS) }
  }

  /** Rows of the look were taken in; each tells when it was written (`toUnixTimestamp64Milli`). */
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
