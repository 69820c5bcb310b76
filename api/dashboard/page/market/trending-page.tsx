import { useMemo } from 'preact/hooks'
import type { WatchlistItem } from '../../../items/watchlist.ts'
import { EmptyNotice } from '../components/query-view.tsx'
import { DataTable } from '../data/data-table.tsx'
import type { LiveViewRules } from '../data/live-view.ts'
import { useLiveView } from '../data/use-live-view.ts'
import { useNow } from '../data/use-now.ts'
import {
  applyWatchlistMessages,
  type ReceivedItem,
  type WatchlistState,
  watchlistFromResponse,
} from '../data/watchlist.ts'
import { LiveViewPage } from './live-view-page.tsx'
import { trendingColumns } from './trending-columns.tsx'
import { TrendingDetails } from './trending-details.tsx'

const RULES: LiveViewRules<WatchlistState, { readonly items: readonly WatchlistItem[] }> = {
  path: '/me/watchlists/trending',
  channel: 'watchlist',
  fromResponse: ({ items }, now, before) => watchlistFromResponse(items, now, before),
  applyMessages: applyWatchlistMessages,
}

/** The trending watchlist, live. */
export function TrendingPage() {
  const view = useLiveView(RULES)
  return (
    <LiveViewPage
      title="Trending"
      about="A token enters this list when two tracked wallets hold it. It stays while one of them does, and leaves when none does or after 24 hours without a trade. Updated every 10 seconds. Part of Pro; this page costs no credits."
      what="the trending tokens"
      view={view}
    >
      {({ rows }) => <TrendingTable rows={rows} isLive={view.connection.kind === 'live'} />}
    </LiveViewPage>
  )
}

function TrendingTable(props: {
  readonly rows: ReadonlyMap<string, ReceivedItem>
  readonly isLive: boolean
}) {
  const { rows, isLive } = props
  const now = useNow(10)
  const columns = useMemo(() => trendingColumns(now), [now])
  const list = useMemo(() => [...rows.values()], [rows])
  if (list.length === 0)
    return (
      <EmptyNotice>
        No token is trending now. A token appears here when two tracked wallets hold it.{' '}
        <a href="#/trades">See live trades</a>
      </EmptyNotice>
    )
  return (
    <>
      <DataTable
        caption={`${list.length} trending ${list.length === 1 ? 'token' : 'tokens'}${isLive ? ', live' : ''}`}
        columns={columns}
        rows={list}
        rowKey={({ item }) => item.mint}
        sorting={{ column: 'conviction', descending: true }}
        details={{
          label: ({ item }) => item.symbol || item.mint,
          show: (row) => <TrendingDetails row={row} now={now} />,
        }}
      />
      {list.some(({ item }) => item.sol_held === 0 && item.pct_held > 0) && (
        <p class="about">
          A cost of 0 SOL means that the holders sent the tokens elsewhere, or that the price in SOL
          is not known. Holders and percentages count swaps only, so these wallets still count.
        </p>
      )}
    </>
  )
}
