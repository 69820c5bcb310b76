import { useEffect, useState } from 'preact/hooks'
import type { WalletMetricsItem } from '../../../items/wallet-metrics.ts'
import { Empty, Page } from '../components.tsx'
import { type Column, DataTable } from '../data/data-table.tsx'
import { FigureText, FullFigures, Sol, Span, WalletLink } from '../data/figure-text.tsx'
import { numberFigure, percentFigure } from '../data/figures.ts'
import { keepPart, PaidView, usePaid } from '../data/paid.tsx'
import { aliasNumber } from '../data/sorting.ts'

interface WalletsAnswer {
  readonly page: number
  readonly page_size: number
  readonly total: number
  readonly has_more: boolean
  readonly items: readonly WalletMetricsItem[]
}

/** The tracked wallets with their metrics, 25 a page. */
export function WalletsPage() {
  const [page, setPage] = useState(1)
  const paid = usePaid<WalletsAnswer>(`/wallets?page=${page}`, 1)
  const { answer } = paid
  useEffect(() => {
    // The page of a wallet shows what was paid for here.
    for (const item of answer?.body.items ?? [])
      if (answer !== null) keepPart(`/wallets/${item.identity.wallet}/metrics`, item, answer)
  }, [answer])
  return (
    <Page
      title="Wallets"
      about="The wallets that are tracked, by alias, with what they made and how they trade. Sorting orders the page that you see."
    >
      <FullFigures />
      <PaidView paid={paid} what={`wallets, page ${page}`}>
        {({ body: { items, total, page_size } }) =>
          items.length === 0 ? (
            <Empty>
              <p>No wallet is on this page.</p>
            </Empty>
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
      {(page > 1 || answer?.body.has_more === true) && (
        <nav aria-label="Pages of wallets" class="pages">
          <button type="button" disabled={page === 1} onClick={() => setPage(page - 1)}>
            Earlier wallets
          </button>
          <span>Page {page}</span>
          <button
            type="button"
            disabled={answer?.body.has_more !== true}
            onClick={() => setPage(page + 1)}
          >
            Later wallets
          </button>
        </nav>
      )}
    </Page>
  )
}

const COLUMNS: readonly Column<WalletMetricsItem>[] = [
  {
    key: 'wallet',
    title: 'Wallet',
    isUpwards: true,
    value: ({ identity }) => aliasNumber(identity.wallet),
    cell: ({ identity }) => <WalletLink alias={identity.wallet} />,
  },
  {
    key: 'score',
    title: 'Score',
    about: 'Quality from 0 to 100; only for wallets that are neither disqualified nor in review',
    isFigure: true,
    value: ({ identity }) => identity.score,
    cell: ({ identity }) => <FigureText figure={numberFigure(identity.score)} />,
  },
  {
    key: 'status',
    title: 'Status',
    isUpwards: true,
    value: ({ identity }) => identity.status,
    cell: ({ identity }) => identity.status,
  },
  {
    key: 'pnl',
    title: 'Profit',
    about: 'Realised, first in, first out, over all tokens',
    isFigure: true,
    value: ({ pnl }) => pnl.pnl_sol,
    cell: ({ pnl }) => <Sol sol={pnl.pnl_sol} />,
  },
  {
    key: 'winrate',
    title: 'Win rate',
    about: 'Of the tokens sold, how many with a profit',
    isFigure: true,
    value: ({ behavior }) => behavior.winrate,
    cell: ({ behavior }) => <FigureText figure={percentFigure(behavior.winrate)} />,
  },
  {
    key: 'balance',
    title: 'Balance',
    isFigure: true,
    value: ({ pnl }) => pnl.sol_balance,
    cell: ({ pnl }) => <Sol sol={pnl.sol_balance} />,
  },
  {
    key: 'open',
    title: 'In open positions',
    about: 'What was paid for all that is not sold yet',
    isFigure: true,
    value: ({ pnl }) => pnl.sol_invested_open,
    cell: ({ pnl }) => <Sol sol={pnl.sol_invested_open} />,
  },
  {
    key: 'trades',
    title: 'Trades',
    isFigure: true,
    value: ({ activity }) => activity.total_trades,
    cell: ({ activity }) => <FigureText figure={numberFigure(activity.total_trades, 0)} />,
  },
  {
    key: 'tokens',
    title: 'Tokens',
    about: 'Different tokens traded',
    isFigure: true,
    value: ({ activity }) => activity.unique_tokens_traded,
    cell: ({ activity }) => <FigureText figure={numberFigure(activity.unique_tokens_traded, 0)} />,
  },
  {
    key: 'holding',
    title: 'Holds for',
    about: 'Mean time from a buy to the sell matched with it',
    isFigure: true,
    value: ({ behavior }) => behavior.avg_holding_time,
    cell: ({ behavior }) => <Span seconds={behavior.avg_holding_time} />,
  },
]
