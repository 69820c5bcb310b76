import {
  readNewestTick,
  readWatchlist,
  readWatchlistChanges,
  type WatchlistRow,
} from '../../pipeline/store/read-watchlist.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type SignalRow, signalItem } from '../items/signal.ts'
import { watchlistItem } from '../items/watchlist.ts'
import { readSignals, readSignalsAfter } from '../rows/signal-rows.ts'
import type { ViewChannel } from './messages.ts'

/** What a view says of a mint at a tick; in a snapshot `at` is the tick that it is as of. */
export interface ViewRow {
  readonly channel: ViewChannel
  readonly at: number
  readonly mint: string
  readonly event: 'snapshot' | 'entered' | 'changed' | 'left' | 'fired'
  /** JSON of `data`. */
  readonly render: () => string
}

/** What the channels `watchlist` and `signals` say, as stored. Rejects with `unavailable` when the store does not answer. */
export interface ViewSource {
  /** The newest tick that is wholly stored, unix seconds; null before the first. */
  newestTick(): Promise<number | null>
  /** The list as of a tick, by mint; then the newest signals that had fired by then, oldest first. */
  snapshot(at: number): Promise<readonly ViewRow[]>
  /** What happened after one tick, through another one: by tick, in it what changed of the list, by mint, then what fired, by mint. */
  changes(after: number, through: number): Promise<readonly ViewRow[]>
}

/** Reads them as the resources of the dashboard do, and renders them as these do. */
export function createViewSource(store: Store): ViewSource {
  return {
    newestTick: () => readNewestTick(store),
    async snapshot(at) {
      const listed = await readWatchlist(store, at)
      const fired = await readSignals(store, { at, rows: listed }, { limit: NEWEST_SIGNALS })
      const ofList = listed.map((row): ViewRow => ({ ...listRow(row, at), event: 'snapshot' }))
      const ofSignals = fired.map((row): ViewRow => ({ ...signalRow(row), at, event: 'snapshot' }))
      return [...ofList.sort(byMint), ...ofSignals.reverse()]
    },
    async changes(after, through) {
      const [changes, fired] = await Promise.all([
        readWatchlistChanges(store, after, through),
        readSignalsAfter(store, after, through),
      ])
      const rows = changes.map((row) => listRow(row, row.at))
      // Of a tick the list comes first; the order of each is that in which it was read.
      return [...rows, ...fired.map(signalRow)].sort((a, b) => a.at - b.at)
    },
  }
}

/** As many as `GET /me/signals/filter` gives unless told otherwise. */
const NEWEST_SIGNALS = 25

function listRow(row: WatchlistRow, at: number): ViewRow {
  const { mint, event, symbol, name } = row
  const render = () =>
    JSON.stringify(event === 'left' ? { mint, symbol, name } : watchlistItem(row, at))
  return { channel: 'watchlist', at, mint, event, render }
}

function signalRow(row: SignalRow): ViewRow {
  const render = () => JSON.stringify(signalItem(row))
  return { channel: 'signals', at: row.fired_at, mint: row.mint, event: 'fired', render }
}

function byMint(a: ViewRow, b: ViewRow): number {
  return a.mint < b.mint ? -1 : a.mint > b.mint ? 1 : 0
}
