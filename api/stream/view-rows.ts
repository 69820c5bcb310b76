import type { Store } from '../../pipeline/store/store.ts'
import { readNewestTick } from '../../pipeline/store/tables/progress.ts'
import {
  readWatchlist,
  readWatchlistChanges,
  type WatchlistRow,
} from '../../pipeline/store/tables/watchlist.ts'
import type { CursorCodec } from '../cursor.ts'
import { type SignalRow, signalItem } from '../items/signal.ts'
import { watchlistItem } from '../items/watchlist.ts'
import { readSignals, readSignalsAfter } from '../rows/signal-rows.ts'
import type { ViewChannel } from './messages.ts'

/**
 * One message of a view before it is rendered. `at` is its tick; in a snapshot, that of the
 * snapshot.
 */
export interface ViewRow {
  readonly channel: ViewChannel
  readonly at: number
  readonly mint: string
  readonly event: 'snapshot' | 'entered' | 'changed' | 'left' | 'fired'
  /** Renders `data` as JSON. */
  readonly render: () => string
}

/**
 * Source of the messages of `watchlist` and `signals`. Rejects with `unavailable` when the store
 * does not answer; a retry may help.
 */
export interface ViewSource {
  /** The newest completely stored tick, unix seconds; null before the first. */
  newestTick(): Promise<number | null>
  /** The watchlist as of a tick, by mint; then the newest signals up to then, oldest first. */
  snapshot(at: number): Promise<readonly ViewRow[]>
  /**
   * The changes after one tick up to and including another, by tick. Within a tick changes of the
   * watchlist come first, by mint, then signals, by mint.
   */
  changes(after: number, through: number): Promise<readonly ViewRow[]>
}

/** Creates the source that reads and renders as the dashboard's resources do. */
export function createViewSource(
  store: Store,
  { tradeId }: Pick<CursorCodec, 'tradeId'>,
): ViewSource {
  return {
    newestTick: () => readNewestTick(store),
    async snapshot(at) {
      const listed = await readWatchlist(store, at)
      const fired = await readSignals(
        store,
        { at, rows: listed },
        { limit: NEWEST_SIGNALS, tradeId },
      )
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
      // The sort is stable: within a tick the watchlist stays first, each part in its order.
      return [...rows, ...fired.map(signalRow)].sort((a, b) => a.at - b.at)
    },
  }
}

/** The default page size of `GET /me/signals/filter`. */
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
