import { formatNumber, formatPercent, formatSol, formatUsd } from '../data/format.ts'
import { FormattedText, SolAmount, showDuration, TokenLink } from '../data/formatted.tsx'
import { MomentumText } from '../data/momentum-text.tsx'
import { numberColumn, type TableColumn } from '../data/table-column.ts'
import { currentAge, type ReceivedItem, TOKEN_STATES } from '../data/watchlist.ts'
import { Multiple } from './multiple.tsx'

/** Columns of the trending table. Ages are as of `now` (unix seconds). */
export function trendingColumns(now: number): readonly TableColumn<ReceivedItem>[] {
  return [
    ...TOKEN_COLUMNS,
    ...HOLDER_COLUMNS,
    ...MARKET_COLUMNS,
    numberColumn(
      'listed',
      'Time on the list',
      (row) => currentAge(row, 'watchlist_seconds', now),
      showDuration,
    ),
  ]
}

const TOKEN_COLUMNS: readonly TableColumn<ReceivedItem>[] = [
  {
    key: 'token',
    title: 'Token',
    isAscendingFirst: true,
    sortValue: ({ item }) => (item.symbol || item.mint).toLowerCase(),
    cell: ({ item }) => (
      <>
        <TokenLink mint={item.mint} symbol={item.symbol} />
        {item.near_evict && (
          <span
            class="badge"
            title="Only one wallet holds it, or it was not traded for almost 24 hours"
          >
            leaving soon
          </span>
        )}
      </>
    ),
  },
  {
    key: 'state',
    title: 'State',
    isAscendingFirst: true,
    sortValue: ({ item }) => item.state,
    cell: ({ item }) => (
      <span class={`state ${item.state}`} title={TOKEN_STATES[item.state]?.description ?? ''}>
        <span aria-hidden="true">{TOKEN_STATES[item.state]?.sign}</span> {item.state}
      </span>
    ),
  },
]

const HOLDER_COLUMNS: readonly TableColumn<ReceivedItem>[] = [
  numberColumn(
    'conviction',
    'Conviction',
    ({ item }) => item.conviction,
    (value) => <FormattedText value={formatNumber(value, 1)} />,
    '0 to 100, from the number of holders, the share held, and the share of buys in the volume of the last hour',
  ),
  numberColumn(
    'holders',
    'Holders',
    ({ item }) => item.wallets_holding,
    (value) => value,
    'Tracked wallets that hold the token',
  ),
  {
    key: 'held',
    title: 'Cost of holdings',
    description:
      'What the holders paid for the tokens that they still have. Below it, the share held: tokens held as a percentage of the tokens bought, by swaps only.',
    isNumeric: true,
    sortValue: ({ item }) => item.sol_held,
    cell: ({ item }) => (
      <>
        <SolAmount sol={item.sol_held} />{' '}
        <small>
          (<FormattedText value={formatPercent(item.pct_held * 100)} /> held)
        </small>
      </>
    ),
  },
]

const MARKET_COLUMNS: readonly TableColumn<ReceivedItem>[] = [
  {
    key: 'mcap',
    title: 'Market cap',
    description: 'In USD, and its change in the last hour',
    isNumeric: true,
    sortValue: ({ item }) => item.current_mcap,
    cell: ({ item }) => (
      <MomentumText
        isShort
        value={formatUsd(item.current_mcap)}
        changePct={item.momentum.mcap.change_pct}
        trend={item.momentum.mcap.trend}
      />
    ),
  },
  numberColumn(
    'multiple',
    'Multiple of entry',
    ({ item }) => item.multiple,
    (value) => <Multiple of={value} />,
    'Market cap divided by the mean entry market cap of the holders',
  ),
  {
    key: 'volume',
    title: 'Bought / sold, 1 h',
    description: 'SOL volume of tracked wallets in the last hour',
    isNumeric: true,
    sortValue: ({ item }) => item.buy_volume + item.sell_volume,
    cell: ({ item }) => (
      <>
        <FormattedText value={formatSol(item.buy_volume)} /> / <SolAmount sol={item.sell_volume} />
      </>
    ),
  },
]
