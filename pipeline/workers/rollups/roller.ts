import { readServerTime } from '../../store/server-time.ts'
import type { Store } from '../../store/store.ts'
import { insertProgress, readProgress, readStorageMarker } from '../../store/tables/progress.ts'
import {
  type ChangedMint,
  type ChangedStretch,
  DAY,
  HOUR,
  readChangedDays,
  readChangedHours,
  readChangedMints,
  readNewestRollupVersion,
  rollUpDay,
  rollUpHours,
  rollUpTokens,
  type Stretch,
} from '../../store/tables/rollups.ts'

/** Name in `progress`. The slot of its row is the version of the newest complete pass. */
const WORKER = 'rollups'

/**
 * How far before the previous pass a pass looks for changes, in milliseconds. It is longer than any
 * statement takes: a row may become visible that much later than its `inserted_at`, and an evicted
 * roller may still write a row.
 */
const OVERLAP_MS = 600_000

/**
 * Bounds of one statement, which must end well within the 30 s that the store allows: time that it
 * covers, changed swaps, mints, and stored hours of these.
 */
const MOST_SECONDS = DAY
const MOST_SWAPS = 50_000
const MOST_MINTS = 500
const MOST_TOKEN_ROWS = 300_000

/**
 * Keeps the rollups (rule I4). A pass computes again every hour, token and day with an event or
 * match that was written since the previous pass, in chunks, and then stores how far storage was
 * when it began. It writes only differences, so whatever a killed pass has written stays, and the
 * next one writes the rest.
 */
export class Roller {
  readonly #store: Store
  /** Whether this process may go on. Two may roll for a moment. */
  readonly #isMine: () => boolean
  readonly #overlapMs: number
  readonly #startedAt = performance.now()
  /** Version of the newest pass of any process; null until it is read. */
  #newest: number | null = null

  constructor(store: Store, isMine: () => boolean, overlapMs = OVERLAP_MS) {
    this.#store = store
    this.#isMine = isMine
    this.#overlapMs = overlapMs
  }

  /**
   * Runs a pass. Returns the block time up to which the rollups are complete, in unix seconds; null
   * if storage has no marker yet, or this process lost the right to go on.
   */
  async pass(): Promise<number | null> {
    const store = this.#store
    const now = await readServerTime(store)
    const marker = await readStorageMarker(store)
    if (marker === null) return null
    const done = (await readProgress(store, WORKER)).get(0)?.highest ?? 0
    this.#newest ??= await readNewestRollupVersion(store, done)
    const version = Math.max(now, done + 1, this.#newest + 1)
    this.#newest = version

    const since = Math.max(0, done - this.#overlapMs)
    await this.#rollHours(version, since)
    // An evicted roller may still write rows that are older than what they replace.
    const isNew = performance.now() - this.#startedAt < this.#overlapMs
    await this.#rollTokens(version, isNew ? since : done + 1)
    for (const day of await readChangedDays(store, since)) {
      if (!this.#isMine()) return null
      await rollUpDay(store, version, day)
    }
    if (!this.#isMine()) return null
    const position = { slot: version, parent: 0, block_time: marker.blockTime }
    await insertProgress(store, [{ worker: WORKER, partition: 0, partitions: 1, ...position }])
    return marker.blockTime
  }

  async #rollHours(version: number, since: number): Promise<void> {
    let left: readonly ChangedStretch[] = await readChangedHours(this.#store, since)
    while (left.length > 0 && this.#isMine()) {
      const { stretch, rest } = takeStretch(left)
      left = rest
      await rollUpHours(this.#store, version, stretch)
    }
  }

  async #rollTokens(version: number, since: number): Promise<void> {
    const store = this.#store
    let after = ''
    let left: readonly ChangedMint[] = await readChangedMints(store, since, after, MOST_MINTS)
    while (left.length > 0) {
      const { last, hours, rest } = takeMints(left)
      for (const stretch of hours) {
        if (!this.#isMine()) return
        await rollUpTokens(store, version, since, { after, last }, stretch)
      }
      after = last
      left = rest.length > 0 ? rest : await readChangedMints(store, since, after, MOST_MINTS)
    }
  }
}

/**
 * Takes the first changed stretches that lie within `MOST_SECONDS` and `MOST_SWAPS`, at least one,
 * as one stretch.
 */
function takeStretch(changed: readonly ChangedStretch[]): {
  readonly stretch: Stretch
  readonly rest: readonly ChangedStretch[]
} {
  const from = changed[0]?.from ?? 0
  const taken = countWithin(changed, MOST_SWAPS, (stretch) => stretch.to <= from + MOST_SECONDS)
  return { stretch: { from, to: changed[taken - 1]?.to ?? from }, rest: changed.slice(taken) }
}

/**
 * Takes the first mints of which at most `MOST_TOKEN_ROWS` are stored, at least one, with the hours
 * to compute: in several stretches for a mint that alone has more.
 */
function takeMints(changed: readonly ChangedMint[]): {
  readonly last: string
  readonly hours: readonly Stretch[]
  readonly rest: readonly ChangedMint[]
} {
  const taken = changed.slice(
    0,
    countWithin(changed, MOST_TOKEN_ROWS, () => true),
  )
  const from = Math.min(...taken.map((mint) => mint.from))
  const to = Math.max(...taken.map((mint) => mint.to))
  const rows = taken.reduce((sum, mint) => sum + mint.rows, 0)
  const parts = Math.ceil(rows / MOST_TOKEN_ROWS)
  const step = Math.ceil((to - from) / HOUR / parts) * HOUR
  const hours: Stretch[] = []
  for (let at = from; at < to; at += step) hours.push({ from: at, to: Math.min(to, at + step) })
  return { last: taken.at(-1)?.mint ?? '', hours, rest: changed.slice(taken.length) }
}

/** The number of first items that together have at most `most` rows, and fit; at least one. */
function countWithin<T extends { readonly rows: number }>(
  items: readonly T[],
  most: number,
  fits: (item: T) => boolean,
): number {
  let rows = 0
  const over = items.findIndex((item) => {
    rows += item.rows
    return rows > most || !fits(item)
  })
  return over === -1 ? items.length : Math.max(1, over)
}
