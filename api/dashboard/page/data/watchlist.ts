import type { WatchlistItem } from '../../../items/watchlist.ts'
import type { SocketMessage } from './feed-socket.ts'

/** A token of the watchlist. Its ages (`*_seconds`) are as of `receivedAt` (unix seconds). */
export interface ReceivedItem {
  readonly item: WatchlistItem
  readonly receivedAt: number
}

/** The watchlist as the page shows it. */
export interface WatchlistState {
  /** Listed tokens by mint. */
  readonly rows: ReadonlyMap<string, ReceivedItem>
  /** Mints received so far of an incomplete snapshot. Null if no snapshot is being received. */
  readonly snapshot: ReadonlySet<string> | null
}

/** Returns the watchlist of `GET /me/watchlists/trending`. An incomplete snapshot continues. */
export function watchlistFromResponse(
  items: readonly WatchlistItem[],
  now: number,
  before: WatchlistState | null,
): WatchlistState {
  const rows = new Map(items.map((item) => [item.mint, { item, receivedAt: now }]))
  return { rows, snapshot: before?.snapshot ?? null }
}

/**
 * Applies messages of channel `watchlist`, in order. A complete snapshot removes every token that
 * it does not contain; until then, all tokens stay listed. Repeated messages change nothing.
 */
export function applyWatchlistMessages(
  before: WatchlistState,
  messages: readonly (SocketMessage & { readonly data?: unknown })[],
  now: number,
): WatchlistState {
  const rows = new Map(before.rows)
  let snapshot = before.snapshot === null ? null : new Set(before.snapshot)
  for (const message of messages) {
    if (message.type === 'snapshot_complete') {
      for (const mint of rows.keys()) if (snapshot?.has(mint) !== true) rows.delete(mint)
      snapshot = null
    } else if (message.type === 'gap') snapshot = null
    if (message.channel !== 'watchlist') continue
    const item = message.data as WatchlistItem // for event `left`: mint, symbol and name only
    if (message.event === 'left') rows.delete(item.mint)
    else rows.set(item.mint, { item, receivedAt: now })
    if (message.snapshot === true) {
      snapshot ??= new Set()
      snapshot.add(item.mint)
    }
  }
  return { rows, snapshot }
}

/** Returns the sign and the word for a trend. */
export function trendLabel(trend: string): { readonly sign: string; readonly word: string } {
  if (trend === 'up') return { sign: '▲', word: 'up' }
  if (trend === 'down') return { sign: '▼', word: 'down' }
  return { sign: '▬', word: 'flat' }
}

/** The sign and the meaning of each state of a listed token (rule G4). */
export const TOKEN_STATES: Readonly<
  Record<string, { readonly sign: string; readonly description: string }>
> = {
  discovered: { sign: '✦', description: 'On the list for less than 10 minutes' },
  accumulating: {
    sign: '▲',
    description: 'In the last hour, tracked wallets bought more than 1.2 times what they sold',
  },
  distributing: {
    sign: '▼',
    description: 'In the last hour, tracked wallets sold more than 1.2 times what they bought',
  },
  holding: { sign: '▬', description: 'Buys and sells of the last hour are about even' },
}

/** Returns an age of a token in seconds as of `now` (unix seconds). */
export function currentAge(
  { item, receivedAt }: ReceivedItem,
  field: 'age_seconds' | 'discovered_seconds' | 'oldest_hold_seconds' | 'watchlist_seconds',
  now: number,
): number {
  return item[field] + Math.max(0, Math.floor(now - receivedAt))
}
