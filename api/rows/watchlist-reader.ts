import type { Store } from '../../pipeline/store/store.ts'
import { readNewestTick } from '../../pipeline/store/tables/progress.ts'
import {
  readWatchlist,
  readWatchlistChanges,
  type WatchlistRow,
} from '../../pipeline/store/tables/watchlist.ts'

/** The watchlist as of a tick; `at` is null before the first tick. */
export interface Watchlist {
  readonly at: number | null
  /** Rows ordered by conviction descending, then mint. */
  readonly rows: readonly WatchlistRow[]
}

/** Returns the watchlist as of the newest tick. */
export type WatchlistReader = () => Promise<Watchlist>

/** Shortest time between two reads of the newest tick. */
const FRESH_MS = 500
/** If the cached tick is older than this, the whole list is read instead of its changes. */
const MOST_BEHIND_SECONDS = 600

/**
 * Creates a reader that caches the list and reads only the changes of each tick. Concurrent calls
 * share one read.
 */
export function createWatchlistReader(store: Store, now: () => number = Date.now): WatchlistReader {
  let known: Watchlist = { at: null, rows: [] }
  let freshUntil = 0
  let reading: Promise<Watchlist> | undefined

  async function read(): Promise<Watchlist> {
    const startedAt = now()
    const at = await readNewestTick(store)
    if (at !== known.at) known = { at, rows: at === null ? [] : await rowsAt(at) }
    freshUntil = startedAt + FRESH_MS
    return known
  }

  async function rowsAt(at: number): Promise<readonly WatchlistRow[]> {
    const { at: before, rows } = known
    // A lower tick than the cached one means that earlier ticks were computed again.
    if (before === null || at < before || at - before > MOST_BEHIND_SECONDS)
      return readWatchlist(store, at)
    const byMint = new Map(rows.map((row) => [row.mint, row]))
    for (const row of await readWatchlistChanges(store, before, at)) {
      if (row.event === 'left') byMint.delete(row.mint)
      else byMint.set(row.mint, row)
    }
    return [...byMint.values()].sort(byConviction)
  }

  return () => {
    if (now() < freshUntil) return Promise.resolve(known)
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
}

function byConviction(a: WatchlistRow, b: WatchlistRow): number {
  return b.conviction - a.conviction || (a.mint < b.mint ? -1 : a.mint > b.mint ? 1 : 0)
}
