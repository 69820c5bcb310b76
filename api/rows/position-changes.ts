import type { Store } from '../../pipeline/store/store.ts'
import { newestBy } from '../../pipeline/store/tables/event-rows.ts'
import { readWrittenMints } from '../../pipeline/store/tables/mints.ts'
import {
  type PositionVersion,
  readWrittenPositions,
  type WrittenPosition,
} from '../../pipeline/store/tables/positions.ts'
import type { StoragePosition, StoredSlot } from '../storage-position.ts'
import { GO_BACK_EVERY_MS, GO_BACK_MS, type LookbackRead, LookbackWindow } from './look-back.ts'

export interface PositionChangeSet {
  /** The newest version of each changed position. */
  readonly positions: readonly PositionVersion[]
  /** Mints with a changed swap, position or fact; null if unknown: every mint may have changed. */
  readonly mints: ReadonlySet<string> | null
  readonly stored: StoredSlot
}

/**
 * Reads which positions changed since the last marker, with one query a marker, to invalidate
 * caches. A swap changes the position of its wallet and mint in the same flush, before a marker
 * passes it; so does a late swap, a corrected one and a price filled in later. So a mint without a
 * change has the same swaps, positions and sums as before.
 *
 * Reads overlap as `LookbackWindow` says. Changes that a worker stored beyond the marker are
 * reported again until the marker has passed them. In a burst of writes, such as a refold of every
 * wallet, everything counts as changed at each marker, and once more when the burst ends.
 */
export class PositionChanges {
  readonly #store: Store
  readonly #position: Pick<StoragePosition, 'stored' | 'beforeMove'>
  readonly #now: () => number
  readonly #listeners: ((changes: PositionChangeSet) => void)[] = []
  #at: { readonly stored: StoredSlot | null; readonly requestedAt: number } | null = null
  #done: Promise<void> = Promise.resolve()
  readonly #lookBack = new LookbackWindow()
  /** Recently reported versions, by key, in two generations so that memory stays bounded. */
  #reported = new Map<string, string>()
  #reportedBefore = new Map<string, string>()
  #generationAt = 0
  #isBurst = false
  /** Whether `refresh` was called since the last marker. If not, changes are not prefetched. */
  #isRequested = false
  #unsettled = new Map<string, PositionVersion>()

  constructor(deps: {
    readonly store: Store
    readonly position: Pick<StoragePosition, 'stored' | 'beforeMove'>
    readonly now?: () => number
  }) {
    this.#store = deps.store
    this.#position = deps.position
    this.#now = deps.now ?? Date.now
    this.#position.beforeMove(async (next) => {
      if (!this.#isRequested) return () => {}
      this.#isRequested = false
      const digest = await this.#read(next)
      return () => {
        this.#at = { stored: next, requestedAt: this.#now() }
        this.#done = Promise.resolve()
        digest()
      }
    })
  }

  /** Whether a burst of writes is going on, so that changes are not reported one by one. */
  get isBurst(): boolean {
    return this.#isBurst
  }

  /** Registers a listener of all later changes. */
  listen(listener: (changes: PositionChangeSet) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Resolves when listeners have received all changes up to the marker, or up to five seconds ago
   * if the marker does not move. Concurrent calls share one read.
   */
  refresh(): Promise<void> {
    this.#isRequested = true
    const stored = this.#position.stored()
    const requestedAt = this.#now()
    if (this.#at?.stored === stored && requestedAt - this.#at.requestedAt < MAX_AGE_MS)
      return this.#done
    const at = { stored, requestedAt }
    this.#at = at
    this.#done = this.#done
      .catch(() => {})
      .then(async () => (await this.#read(stored))())
      .catch((error: unknown) => {
        if (this.#at === at) this.#at = null
        throw error
      })
    return this.#done
  }

  /** Reads the changes; the returned function reports them. */
  async #read(stored: StoredSlot | null): Promise<() => void> {
    if (stored === null) return () => {}
    if (!this.#lookBack.hasBegun) {
      await this.#lookBack.begin(this.#store, this.#now)
      return () => {}
    }
    const look = this.#lookBack.next(this.#now())
    const { since } = look
    const [rows, facts] = await Promise.all([
      readWrittenPositions(this.#store, since, MOST_CHANGES),
      readWrittenMints(this.#store, since, MOST_CHANGES),
    ])
    return () => {
      this.#lookBack.took(look, rows)
      this.#digest({ rows, facts, look, stored })
    }
  }

  #digest({
    rows,
    facts,
    look: { goesBack, now },
    stored,
  }: {
    readonly rows: readonly WrittenPosition[]
    readonly facts: Awaited<ReturnType<typeof readWrittenMints>>
    readonly look: LookbackRead
    readonly stored: StoredSlot
  }): void {
    const wasBurst = this.#isBurst
    const isBurst = rows.length >= MOST_CHANGES || facts.length >= MOST_CHANGES
    // A burst has ended when a long look back finds few changes.
    this.#isBurst = isBurst || (wasBurst && !goesBack)
    if (isBurst || wasBurst) {
      this.#unsettled.clear()
      this.#report({ positions: [], mints: null, stored })
      return
    }
    this.#startGeneration(now)
    const written = this.#notReported(rows, ({ wallet, mint }) => `${wallet} ${mint}`)
    const changed = new Map([...this.#unsettled, ...written])
    const mints = new Set([...changed.values()].map(({ mint }) => mint))
    for (const mint of this.#notReported(facts, (fact) => fact.mint).keys()) mints.add(mint)
    this.#unsettled = new Map(
      [...changed].filter(([, { last_trade_time }]) => (last_trade_time ?? 0) >= stored.blockTime),
    )
    this.#report({ positions: [...changed.values()], mints, stored })
  }

  /** Returns the newest row of each key, without those already reported. */
  #notReported<R extends { readonly version: string }>(
    rows: readonly R[],
    keyOf: (row: R) => string,
  ): Map<string, R> {
    const newest = newestBy(rows, keyOf)
    for (const [key, { version }] of newest) if (!this.#isNew(key, version)) newest.delete(key)
    return newest
  }

  #isNew(key: string, version: string): boolean {
    if ((this.#reported.get(key) ?? this.#reportedBefore.get(key)) === version) return false
    this.#reported.set(key, version)
    return true
  }

  /** Starts a new generation. A generation lasts longer than the longest overlap. */
  #startGeneration(now: number): void {
    if (now - this.#generationAt < GO_BACK_MS + GO_BACK_EVERY_MS) return
    this.#generationAt = now
    this.#reportedBefore = this.#reported
    this.#reported = new Map()
  }

  #report(changes: PositionChangeSet): void {
    if (changes.mints?.size === 0) return
    for (const listener of this.#listeners) listener(changes)
  }
}

const MAX_AGE_MS = 5000
/** More rows than this are a burst: some 600 swaps per second. */
const MOST_CHANGES = 20_000
