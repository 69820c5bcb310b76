import { FavouriteButton } from '../data/favourite-button.tsx'
import { formatNumber, formatSol } from '../data/format.ts'
import {
  FormattedText,
  Profit,
  showCount,
  showDuration,
  showPercent,
  WalletLink,
} from '../data/formatted.tsx'
import { numberColumn, type TableColumn } from '../data/table-column.ts'
import type { BoardItem } from '../responses.ts'
import { ProfitCurve } from './profit-curve.tsx'
import { StatusText } from './wallet-status.tsx'

const showSolNumber = (sol: number | null) => <FormattedText value={formatSol(sol)} />

/** Every column of the leaderboard, in order. */
export const BOARD_COLUMNS: readonly TableColumn<BoardItem>[] = [
  {
    key: 'wallet',
    title: 'Wallet',
    cell: ({ identity: { wallet }, period }) => (
      <span class="ranked">
        <small title="Rank by this order">{period.rank}</small>
        <FavouriteButton favourite={{ kind: 'wallet', id: wallet }} />
        <WalletLink alias={wallet} />
      </span>
    ),
  },
  numberColumn(
    'profit',
    'Profit, SOL',
    ({ period }) => period.pnl_sol,
    (sol) => <Profit sol={sol} />,
    'Realised by the sells of the period; each sell is matched with the oldest buys',
  ),
  numberColumn(
    'winrate',
    'Win rate',
    ({ period }) => period.winrate,
    showPercent,
    'Percentage of the tokens sold in the period that made a profit',
  ),
  numberColumn(
    'trades',
    'Trades',
    ({ period }) => period.trades,
    (count) => <FormattedText value={formatNumber(count, 0)} />,
    'Buys and sells of the period',
  ),
  numberColumn(
    'volume',
    'Volume, SOL',
    ({ period }) => period.volume_sol,
    showSolNumber,
    'What the wallet bought and sold in the period',
  ),
  {
    key: 'curve',
    title: '30 days',
    description: 'Profit of the last 30 days, open positions included. Loaded by a click.',
    cell: ({ identity }) => <ProfitCurve alias={identity.wallet} />,
  },
  numberColumn(
    'score',
    'Score',
    ({ identity }) => identity.score,
    (value) => <FormattedText value={formatNumber(value)} />,
    'Quality from 0 to 100, over all time. Wallets with the status “review” have no score.',
  ),
  {
    key: 'status',
    title: 'Status',
    description: 'Explained below the table',
    cell: ({ identity }) => <StatusText status={identity.status} />,
  },
  numberColumn(
    'balance',
    'Balance, SOL',
    ({ pnl }) => pnl.sol_balance,
    showSolNumber,
    'SOL in the wallet now',
  ),
  numberColumn(
    'open',
    'Cost of open positions, SOL',
    ({ pnl }) => pnl.sol_invested_open,
    showSolNumber,
    'What the wallet paid for the tokens that it has not sold',
  ),
  numberColumn(
    'total',
    'Profit of all time, SOL',
    ({ pnl }) => pnl.pnl_sol,
    (sol) => <Profit sol={sol} />,
    'Realised over all tokens, with transfers',
  ),
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

/** Keys of the columns that are shown until the customer chooses others. */
export const SHOWN_AT_FIRST = [
  'profit',
  'winrate',
  'trades',
  'volume',
  'curve',
  'score',
  'status',
  'holding',
]
