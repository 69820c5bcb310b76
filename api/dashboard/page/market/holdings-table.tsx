import type { HoldingItem } from '../../../items/holding.ts'
import { realisedAtAverageCost } from '../charts/swap-series.ts'
import { DataTable } from '../data/data-table.tsx'
import { formatAmount, formatNumber } from '../data/format.ts'
import {
  FormattedText,
  SolAmount,
  showDuration,
  showPercent,
  showSol,
  TimeAgo,
  TokenLink,
} from '../data/formatted.tsx'
import { numberColumn, type TableColumn } from '../data/table-column.ts'
import { Pager } from './pager.tsx'

/** `GET /wallets/holdings`. */
export interface HoldingsResponse {
  readonly page: number
  readonly page_size: number
  readonly total: number
  readonly has_more: boolean
  readonly items: readonly HoldingItem[]
}

/** The tokens that a wallet holds, with the profit realised so far on each. */
export function HoldingsTable(props: {
  readonly response: HoldingsResponse
  readonly page: number
  readonly goToPage: (page: number) => void
  /** Shows the position history of a token. */
  readonly showHistory: (mint: string) => void
}) {
  const { response, page, goToPage, showHistory } = props
  const { items, total, has_more } = response
  if (total === 0)
    return (
      <div class="empty">
        <p>
          This wallet holds no token that it bought. The metrics above include closed positions.
        </p>
        <p class="about">{SWAPS_ONLY}</p>
      </div>
    )
  const largest = Math.max(...items.map((item) => Math.abs(realisedProfit(item))), 1e-9)
  return (
    <>
      <p class="about">{SWAPS_ONLY}</p>
      <DataTable
        caption={total === 1 ? '1 token held' : `${total} tokens held`}
        columns={[...COLUMNS, profitColumn(largest), historyColumn(showHistory)]}
        rows={items}
        rowKey={({ token }) => token.address}
      />
      <Pager label="Pages of holdings" page={page} hasMore={has_more} goTo={goToPage} />
    </>
  )
}

/** Why holdings and metrics may differ (rule C18). */
const SWAPS_ONLY =
  'Holdings are tokens bought less tokens sold, by swaps only. The metrics include transfers too, so “Open positions” there may be a different number.'

const realisedProfit = ({ position }: HoldingItem) => realisedAtAverageCost(position)

function profitColumn(largest: number): TableColumn<HoldingItem> {
  return {
    key: 'realised',
    title: 'Realised profit (average cost)',
    description:
      'SOL received from sells less the average cost of the tokens sold. The metrics match each sell with the oldest buys instead.',
    isNumeric: true,
    sortValue: realisedProfit,
    cell: (item) => <ProfitBar sol={realisedProfit(item)} largest={largest} />,
  }
}

function historyColumn(showHistory: (mint: string) => void): TableColumn<HoldingItem> {
  return {
    key: 'history',
    title: 'Position history',
    cell: ({ token }) => (
      <button
        type="button"
        class="small"
        aria-label={`Show the position history of ${token.address}`}
        onClick={() => showHistory(token.address)}
      >
        Show
      </button>
    ),
  }
}

/** A profit or loss, and a bar that grows to the right for profit, to the left for loss. */
function ProfitBar({ sol, largest }: { sol: number; largest: number }) {
  const half = (Math.abs(sol) / largest) * 50
  return (
    <>
      <SolAmount sol={sol} />
      <span class="two-way" aria-hidden="true">
        <span
          class={sol < 0 ? 'loss' : 'gain'}
          style={{ width: `${half}%`, marginInlineStart: `${sol < 0 ? 50 - half : 50}%` }}
        />
      </span>
    </>
  )
}

const COLUMNS: readonly TableColumn<HoldingItem>[] = [
  {
    key: 'token',
    title: 'Token',
    isAscendingFirst: true,
    sortValue: ({ token }) => token.address,
    cell: ({ token }) => <TokenLink mint={token.address} />,
  },
  {
    key: 'held',
    title: 'Tokens held',
    isNumeric: true,
    sortValue: ({ position }) => position.tokens_held,
    cell: ({ position }) => <FormattedText value={formatTokens(position.tokens_held)} />,
  },
  numberColumn(
    'share',
    'Share held',
    ({ position }) => position.pct_held * 100,
    showPercent,
    'Tokens held as a percentage of the tokens bought',
  ),
  numberColumn('spent', 'Spent on buys', ({ position }) => position.sol_bought, showSol),
  numberColumn('received', 'Received from sells', ({ position }) => position.sol_sold, showSol),
  numberColumn(
    'holding',
    'Holding time',
    ({ timing }) => timing.holding_time,
    showDuration,
    'Time since the wallet’s first trade of the token',
  ),
  {
    key: 'last',
    title: 'Last trade',
    sortValue: ({ timing }) => timing.last_activity_at,
    cell: ({ timing }) => <TimeAgo unix={timing.last_activity_at} />,
  },
]

/** Formats a number of tokens as the other tables format raw amounts. */
function formatTokens(tokens: number) {
  const whole = Math.trunc(tokens)
  return Math.abs(tokens) >= 1e6 && Number.isSafeInteger(whole)
    ? { text: formatAmount(String(whole), 0).text, exact: formatNumber(tokens, 9).exact }
    : formatNumber(tokens, 4)
}
