import type { WatchlistItem } from '../../../items/watchlist.ts'
import type { SocketMessage } from './feed-socket.ts'

/** A listed token, and when (unix seconds on this machine's clock) its figures were learnt: ages have grown since. */
export interface WatchedRow {
  readonly item: WatchlistItem
  readonly learntAt: number
}

export interface WatchlistView {
  readonly rows: ReadonlyMap<string, WatchedRow>
  /** Mints of the snapshot that is on its way; null when none is. */
  readonly snapshot: ReadonlySet<string> | null
}

/** The list as `GET /me/watchlists/trending` gives it; a snapshot that was on its way in `before` goes on. */
export function wholeWatchlist(
  items: readonly WatchlistItem[],
  now: number,
  before: WatchlistView | null,
): WatchlistView {
  const rows = new Map(items.map((item) => [item.mint, { item, learntAt: now }]))
  return { rows, snapshot: before?.snapshot ?? null }
}

/**
 * The list after messages of channel `watchlist`, in order. What a whole snapshot does not name is off the list; until it is whole, what was known before stays in view.
 * A message that comes twice changes nothing.
 */
export function withWatchlistMessages(
  view: WatchlistView,
  messages: readonly (SocketMessage & { readonly data?: unknown })[],
  now: number,
): WatchlistView {
  const rows = new Map(view.rows)
  let snapshot = view.snapshot === null ? null : new Set(view.snapshot)
  for (const message of messages) {
    if (message.type === 'snapshot_complete') {
      for (const mint of rows.keys()) if (snapshot?.has(mint) !== true) rows.delete(mint)
      snapshot = null
    } else if (message.type === 'gap') snapshot = null
    if (message.channel !== 'watchlist') continue
    const item = message.data as WatchlistItem // the service speaks by its schemas; of one that left only the names
    if (message.event === 'left') rows.delete(item.mint)
    else rows.set(item.mint, { item, learntAt: now })
    if (message.snapshot === true) {
      snapshot ??= new Set()
      snapshot.add(item.mint)
    }
  }
  return { rows, snapshot }
}

/** A direction told by sign and word. */
export function trendWords(trend: string): { readonly sign: string; readonly word: string } {
  if (trend === 'up') return { sign: '▲', word: 'up' }
  if (trend === 'down') return { sign: '▼', word: 'down' }
  return { sign: '▬', word: 'flat' }
}

/** What a state means, for people (rule G4). */
export const STATES: Readonly<Record<string, { readonly sign: string; readonly about: string }>> = {
  discovered: { sign: '✦', about: 'On the list for less than ten minutes' },
  accumulating: {
    sign: '▲',
    about: 'In the last hour tracked wallets bought for over 1.2 times what they sold for',
  },
  distributing: {
    sign: '▼',
    about: 'In the last hour tracked wallets sold for over 1.2 times what they bought for',
  },
  holding: { sign: '▬', about: 'Buys and sells of the last hour are about even' },
}
