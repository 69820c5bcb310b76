import { useEffect, useState } from 'preact/hooks'
import type { WalletMetricsItem } from '../../../items/wallet-metrics.ts'
import { PageLayout } from '../components/page-layout.tsx'
import { EmptyNotice } from '../components/query-view.tsx'
import { DataTable } from '../data/data-table.tsx'
import { formatNumber } from '../data/format.ts'
import {
  ExactNumbersToggle,
  FormattedText,
  showCount,
  showDuration,
  showPercent,
  showSol,
  WalletLink,
} from '../data/formatted.tsx'
import { PaidView } from '../data/paid-view.tsx'
import { aliasNumber } from '../data/sorting.ts'
import { numberColumn, type TableColumn } from '../data/table-column.ts'
import { cachePart, usePaidQuery } from '../data/use-paid-query.ts'
import { Pager } from './pager.tsx'
import { STATUSES } from './wallet-metrics.tsx'

interface WalletsResponse {
  readonly page: number
  readonly page_size: number
  readonly total: number
  readonly has_more: boolean
  readonly items: readonly WalletMetricsItem[]
}

/** The tracked wallets with their metrics, 25 per page. */
export function WalletsPage() {
  const [page, setPage] = useState(1)
  const query = usePaidQuery<WalletsResponse>(`/wallets?page=${page}`, 1)
  const { response } = query
  useEffect(() => {
    // The page of a wallet then shows these metrics without another request.
    for (const item of response?.body.items ?? [])
      if (response !== null) cachePart(`/wallets/${item.identity.wallet}/metrics`, item, response)
  }, [response])
  return (
    <PageLayout
      title="Wallets"
      about="The tracked wallets, with their profit and how they trade. Sorting applies to the page that you see."
    >
      <ExactNumbersToggle />
      <PaidView query={query} what={`wallets, page ${page}`}>
        {({ body: { items, total, page_size } }) =>
          items.length === 0 ? (
            <EmptyNotice>There are no wallets on this page.</EmptyNotice>
          ) : (
            <DataTable
              caption={`Wallets ${(page - 1) * page_size + 1} to ${(page - 1) * page_size + items.length} of ${total}`}
              columns={COLUMNS}
              rows={items}
              rowKey={({ identity }) => identity.wallet}
              sorting={{ column: 'wallet', descending: false }}
            />
          )
        }
      </PaidView>
      <Pager
        label="Pages of wallets"
        page={page}
        hasMore={response?.body.has_more === true}
        goTo={setPage}
      />
    </PageLayout>
  )
}

const COLUMNS: readonly TableColumn<WalletMetricsItem>[] = [
  {
    key: 'wallet',
    title: 'Wallet',
    isAscendingFirst: true,
    sortValue: ({ identity }) => aliasNumber(identity.wallet),
    cell: ({ identity }) => <WalletLink alias={identity.wallet} />,
  },
  numberColumn(
    'score',
    'Score',
    ({ identity }) => identity.score,
    (value) => <FormattedText value={formatNumber(value)} />,
    'Quality from 0 to 100. Wallets with the status “review” have no score.',
  ),
  {
    key: 'status',
    title: 'Status',
    isAscendingFirst: true,
    sortValue: ({ identity }) => identity.status,
    description: `scored: ${STATUSES.scored}. review: ${STATUSES.review}. disqualified: ${STATUSES.disqualified}.`,
    cell: ({ identity: { status } }) => <span title={STATUSES[status]}>{status}</span>,
  },
  numberColumn(
    'profit',
    'Realised profit',
    ({ pnl }) => pnl.pnl_sol,
    showSol,
    'Over all tokens; each sell is matched with the oldest buys',
  ),
  numberColumn(
    'winrate',
    'Win rate',
    ({ behavior }) => behavior.winrate,
    showPercent,
    'Percentage of the tokens sold that made a profit',
  ),
  numberColumn('balance', 'SOL balance', ({ pnl }) => pnl.sol_balance, showSol),
  numberColumn(
    'open',
    'Cost of open positions',
    ({ pnl }) => pnl.sol_invested_open,
    showSol,
    'What the wallet paid for the tokens that it has not sold',
  ),
  numberColumn('trades', 'Trades', ({ activity }) => activity.total_trades, showCount),
  numberColumn(
    'tokens',
    'Tokens traded',
    ({ activity }) => activity.unique_tokens_traded,
    showCount,
  ),
  numberColumn(
    'holding',
    'Mean holding time',
    ({ behavior }) => behavior.avg_holding_time,
    showDuration,
    'Mean time from a buy to the sell that is matched with it',
  ),
]
