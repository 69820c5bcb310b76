import { formatCredits } from '../amounts.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { PageLayout } from '../components/page-layout.tsx'
import { LoadingNotice } from '../components/query-view.tsx'
import { DataTable } from '../data/data-table.tsx'
import { TimeAgo, TokenAmount, WalletLink } from '../data/formatted.tsx'
import { NoticeList } from '../data/notice-list.tsx'
import type { TableColumn } from '../data/table-column.ts'
import { TokenSymbol } from '../data/token-symbol.tsx'
import {
  FEED_PRICES,
  type LiveTradeFeed,
  MAX_LISTED_TRADES,
  type TradeFeedState,
} from '../data/trade-feed.ts'
import type { ListedTrade } from '../data/trade-list.ts'
import { TradeSide } from '../data/trade-side.tsx'
import { startTradeFeed, useTradeFeed } from '../data/use-trade-feed.ts'
import { FeedControls } from './feed-controls.tsx'
import { QuoteAmount } from './quote-amount.tsx'
import { TradeFilterForm } from './trade-filter-form.tsx'

/** Trades of all tracked wallets: history, then live. Nothing is paid before the start. */
export function TradesPage() {
  const { feed, state } = useTradeFeed()
  const { phase, notices, failure } = state
  return (
    <PageLayout title="Live trades">
      <p>
        Trades of the tracked wallets, newest first. Starting loads the last 100 trades for{' '}
        {formatCredits(FEED_PRICES.history)}. After that, each trade that arrives costs{' '}
        {formatCredits(FEED_PRICES.message)}. The feed goes on while you are on other pages.
      </p>
      <TradeFilterForm
        isFirst={phase.kind === 'idle'}
        isLoading={state.isLoading}
        start={startTradeFeed}
      />
      <FeedControls state={state} feed={feed} />
      <NoticeList notices={notices} />
      {failure !== null && <FailureNotice failure={failure} />}
      <Trades state={state} feed={feed} />
    </PageLayout>
  )
}

function Trades(props: { readonly state: TradeFeedState; readonly feed: LiveTradeFeed }) {
  const { feed } = props
  const { phase, list, isLoading, olderCursor } = props.state
  const isEmpty = list.trades.length === 0
  return (
    <>
      {isLoading && <LoadingNotice what="the last trades" />}
      {!isEmpty && (
        <DataTable
          caption={`Trades, newest first${list.evicted > 0 ? ` (the newest ${MAX_LISTED_TRADES} of ${list.received})` : ''}`}
          columns={COLUMNS}
          rows={list.trades}
          rowKey={({ row }) => row}
          rowClass={({ isLate, isWithdrawn, from }) =>
            isWithdrawn ? 'is-withdrawn' : isLate ? 'is-late' : from
          }
        />
      )}
      {phase.kind !== 'idle' && !isLoading && isEmpty && (
        <p class="empty">
          No matching trades yet. Without a filter, a trade arrives every few seconds. Load older
          trades to look further back.
        </p>
      )}
      {olderCursor !== null && list.trades.length < MAX_LISTED_TRADES && (
        <button type="button" disabled={isLoading} onClick={() => void feed.loadOlder()}>
          Load 100 older trades ({formatCredits(FEED_PRICES.history)})
        </button>
      )}
    </>
  )
}

const COLUMNS: readonly TableColumn<ListedTrade>[] = [
  {
    key: 'time',
    title: 'Time',
    cell: ({ trade, from, isLate, isWithdrawn }) => (
      <>
        <TimeAgo unix={trade.block_time} />
        {isWithdrawn && (
          <span
            class="badge"
            title={`Its block never became final, so this trade did not happen.${from === 'live' ? ' Its credit was given back.' : ''}`}
          >
            withdrawn
          </span>
        )}
        {isLate && (
          <span class="badge" title="Received late. It is listed by its time, below newer trades.">
            late
          </span>
        )}
      </>
    ),
  },
  { key: 'wallet', title: 'Wallet', cell: ({ trade }) => <WalletLink alias={trade.wallet} /> },
  { key: 'side', title: 'Side', cell: ({ trade }) => <TradeSide side={trade.side} /> },
  {
    key: 'token',
    title: 'Token',
    cell: ({ trade }) => <TokenSymbol mint={trade.mint} symbol={trade.symbol} />,
  },
  {
    key: 'amount',
    title: 'Tokens',
    isNumeric: true,
    cell: ({ trade }) => <TokenAmount raw={trade.token_amount} decimals={trade.decimals} />,
  },
  {
    key: 'quote',
    title: 'For',
    isNumeric: true,
    cell: ({ trade }) => <QuoteAmount mint={trade.quote_mint} raw={trade.quote_amount} />,
  },
  { key: 'program', title: 'Program', cell: ({ trade }) => trade.program },
]
