import { useEffect, useMemo, useState } from 'preact/hooks'
import type { WatchlistItem } from '../../../items/watchlist.ts'
import { Empty, Failure, Loading, Page } from '../components.tsx'
import { type Column, DataTable } from '../data/data-table.tsx'
import { type Fact, Facts } from '../data/facts.tsx'
import { FigureText, Sol, Span, TokenLink } from '../data/figure-text.tsx'
import { numberFigure, percentFigure, solFigure, usdFigure } from '../data/figures.ts'
import { Momentum } from '../data/momentum.tsx'
import { useView, type View, type ViewRules } from '../data/use-view.ts'
import { ViewLink } from '../data/view-link.tsx'
import {
  STATES,
  type WatchedRow,
  type WatchlistView,
  wholeWatchlist,
  withWatchlistMessages,
} from '../data/watchlist-view.ts'

const RULES: ViewRules<WatchlistView, { readonly items: readonly WatchlistItem[] }> = {
  path: '/me/watchlists/trending',
  channel: 'watchlist',
  whole: ({ items }, now, before) => wholeWatchlist(items, now, before),
  change: withWatchlistMessages,
}

/** Tokens that several tracked wallets hold now, live. */
export function TrendingPage() {
  const view = useView(RULES)
  return (
    <Page
      title="Trending"
      about="Tokens that at least two tracked wallets hold, computed anew every ten seconds. Part of Pro; it costs no credits."
    >
      {view.state === null ? (
        view.failure === null ? (
          <Loading what="the watchlist" />
        ) : (
          <Failure failure={view.failure} again={view.reload} />
        )
      ) : (
        <>
          <ViewLink view={view} />
          <List view={view} rows={view.state.rows} />
        </>
      )}
    </Page>
  )
}

function List({ view, rows }: { view: View<WatchlistView>; rows: WatchlistView['rows'] }) {
  const now = useNow(10)
  const columns = useMemo(() => columnsAt(now), [now])
  const list = useMemo(() => [...rows.values()], [rows])
  if (list.length === 0)
    return (
      <Empty>
        <p>
          No token is held by two tracked wallets now. One appears here as soon as a second wallet
          buys; <a href="#/trades">watch the trades</a> meanwhile.
        </p>
      </Empty>
    )
  return (
    <>
      <DataTable
        caption={`${list.length} trending ${list.length === 1 ? 'token' : 'tokens'}${view.link.kind === 'live' ? ', live' : ''}`}
        columns={columns}
        rows={list}
        rowKey={({ item }) => item.mint}
        sorting={{ column: 'conviction', descending: true }}
        more={{
          label: ({ item }) => item.symbol || item.mint,
          show: (row) => <Details row={row} now={now} />,
        }}
      />
      {list.some(({ item }) => item.sol_held === 0 && item.pct_held > 0) && (
        <p class="about">
          0 SOL held: what the holders bought has left their wallets by a transfer, or its price in
          SOL is not known. Holders and percentages count swaps alone, so they still have it.
        </p>
      )}
    </>
  )
}

/** Ages have grown since they were learnt. */
const grown = (seconds: number, { learntAt }: WatchedRow, now: number) =>
  seconds + Math.max(0, Math.floor(now - learntAt))

function columnsAt(now: number): readonly Column<WatchedRow>[] {
  return [
    {
      key: 'token',
      title: 'Token',
      isUpwards: true,
      value: ({ item }) => (item.symbol || item.mint).toLowerCase(),
      cell: ({ item }) => (
        <>
          <TokenLink mint={item.mint} symbol={item.symbol} />
          {item.near_evict && (
            <span class="badge" title="One wallet holds it, or nobody traded it for long">
              leaves soon
            </span>
          )}
        </>
      ),
    },
    {
      key: 'state',
      title: 'State',
      isUpwards: true,
      value: ({ item }) => item.state,
      cell: ({ item }) => (
        <span class={`state ${item.state}`} title={STATES[item.state]?.about ?? ''}>
          <span aria-hidden="true">{STATES[item.state]?.sign}</span> {item.state}
        </span>
      ),
    },
    {
      key: 'conviction',
      title: 'Conviction',
      about:
        '0 to 100: how many wallets hold, how much of what they bought, and buys against sells',
      isFigure: true,
      value: ({ item }) => item.conviction,
      cell: ({ item }) => <FigureText figure={numberFigure(item.conviction, 1)} />,
    },
    {
      key: 'holders',
      title: 'Holders',
      about: 'Tracked wallets that hold it',
      isFigure: true,
      value: ({ item }) => item.wallets_holding,
      cell: ({ item }) => item.wallets_holding,
    },
    {
      key: 'held',
      title: 'Held',
      about:
        'What the holders paid for what is left in their wallets, transfers counted; and how much they still have of all they bought, by swaps alone',
      isFigure: true,
      value: ({ item }) => item.sol_held,
      cell: ({ item }) => (
        <>
          <Sol sol={item.sol_held} />{' '}
          <small>
            (<FigureText figure={percentFigure(item.pct_held * 100)} />)
          </small>
        </>
      ),
    },
    {
      key: 'mcap',
      title: 'Market cap',
      isFigure: true,
      value: ({ item }) => item.current_mcap,
      cell: ({ item }) => (
        <Momentum
          isShort
          figure={usdFigure(item.current_mcap)}
          changePct={item.momentum.mcap.change_pct}
          trend={item.momentum.mcap.trend}
        />
      ),
    },
    {
      key: 'multiple',
      title: 'Multiple',
      about: 'Market cap now against the mean of the holders’ entries',
      isFigure: true,
      value: ({ item }) => item.multiple,
      cell: ({ item }) => <Multiple of={item.multiple} />,
    },
    {
      key: 'volume',
      title: 'Buys / sells, 1 h',
      about: 'SOL of tracked wallets in the last hour',
      isFigure: true,
      value: ({ item }) => item.buy_volume + item.sell_volume,
      cell: ({ item }) => (
        <>
          <FigureText figure={solFigure(item.buy_volume)} /> / <Sol sol={item.sell_volume} />
        </>
      ),
    },
    {
      key: 'listed',
      title: 'On the list',
      isFigure: true,
      value: (row) => grown(row.item.watchlist_seconds, row, now),
      cell: (row) => <Span seconds={grown(row.item.watchlist_seconds, row, now)} />,
    },
  ]
}

function Multiple({ of }: { of: number | null }) {
  const figure = numberFigure(of, 2)
  return of === null ? (
    <FigureText figure={figure} />
  ) : (
    <FigureText figure={{ text: `${figure.text}×`, exact: `${figure.exact}×` }} />
  )
}

function Details({ row, now }: { row: WatchedRow; now: number }) {
  const { item } = row
  const { momentum } = item
  const age = (seconds: number) => <Span seconds={grown(seconds, row, now)} />
  const moved = (
    name: string,
    of: (typeof momentum)[keyof typeof momentum],
    figure: typeof usdFigure,
    unit?: string,
  ): Fact => ({
    name,
    value: (
      <Momentum
        figure={figure(of.value)}
        {...(unit !== undefined && of.value !== null && { unit })}
        changePct={of.change_pct}
        trend={of.trend}
      />
    ),
  })
  return (
    <div class="fact-groups">
      <Facts
        level="h2"
        title="Token"
        facts={[
          { name: 'Name', value: item.name === '' ? 'not known yet' : item.name },
          { name: 'Symbol', value: item.symbol === '' ? 'not known yet' : item.symbol },
          { name: 'Address', value: <code class="address">{item.mint}</code> },
          { name: 'State', value: item.state, about: STATES[item.state]?.about ?? '' },
          {
            name: 'Leaves soon',
            value: item.near_evict ? 'yes' : 'no',
            about: 'One wallet holds it, or nobody has traded it for most of a day',
          },
        ]}
      />
      <Facts
        level="h2"
        title="Since"
        facts={[
          { name: 'First trade', value: age(item.age_seconds), about: 'of a tracked wallet' },
          { name: 'Discovered', value: age(item.discovered_seconds), about: 'a second one bought' },
          {
            name: 'Oldest position',
            value: item.wallets_holding === 0 ? 'nobody holds it' : age(item.oldest_hold_seconds),
          },
          { name: 'On the list', value: age(item.watchlist_seconds) },
        ]}
      />
      <Facts
        level="h2"
        title="Entries"
        facts={[
          {
            name: 'Mean entry',
            value: <FigureText figure={usdFigure(item.avg_entry_mcap)} />,
            about: 'market cap at the holders’ first buys, by SOL spent',
          },
          { name: 'Lowest entry', value: <FigureText figure={usdFigure(item.band_min)} /> },
          { name: 'Highest entry', value: <FigureText figure={usdFigure(item.band_max)} /> },
          { name: 'Multiple', value: <Multiple of={item.multiple} />, about: 'now / mean entry' },
        ]}
      />
      <Facts
        level="h2"
        title="Now and an hour ago"
        facts={[
          moved('Market cap', momentum.mcap, usdFigure),
          moved('Holders', momentum.holders, (value) => numberFigure(value, 0)),
          moved('Volume, 1 h', momentum.volume1h, solFigure, 'SOL'),
          moved('Liquidity', momentum.liquidity, solFigure, 'SOL'),
        ]}
      />
    </div>
  )
}

/** Unix seconds, moved on every so many seconds. */
function useNow(everySeconds: number): number {
  const [now, setNow] = useState(() => Date.now() / 1000)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), everySeconds * 1000)
    return () => clearInterval(timer)
  }, [everySeconds])
  return now
}
