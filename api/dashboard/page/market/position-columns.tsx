import type { WalletPositionItem } from '../../../items/wallet-position.ts'
import { formatDuration, formatNumber, formatPrice, formatSol, withSign } from '../data/format.ts'
import {
  FormattedText,
  Profit,
  showCount,
  showDuration,
  TimeAgo,
  TokenAmount,
} from '../data/formatted.tsx'
import { numberColumn, type TableColumn } from '../data/table-column.ts'
import { TokenSymbol } from '../data/token-symbol.tsx'

const showSolNumber = (sol: number | null) => <FormattedText value={formatSol(sol)} />
const showProfit = (sol: number | null) => <Profit sol={sol} />

/** Columns of the positions of a wallet, in order. */
export const POSITION_TABLE_COLUMNS: readonly TableColumn<WalletPositionItem>[] = [
  {
    key: 'token',
    title: 'Token',
    isAscendingFirst: true,
    sortValue: ({ token }) => (token.symbol ?? token.address).toLowerCase(),
    cell: ({ token }) => (
      <span title={token.name ?? ''}>
        <TokenSymbol mint={token.address} symbol={token.symbol} />
      </span>
    ),
  },
  numberColumn(
    'value',
    'Value, SOL',
    ({ value_sol }) => value_sol,
    showSolNumber,
    'What the tokens are worth now; a dash where no price is known',
  ),
  numberColumn(
    'unrealised',
    'Unrealised, SOL',
    ({ unrealized_sol }) => unrealized_sol,
    showProfit,
    'Value less what the tokens cost',
  ),
  numberColumn(
    'realised',
    'Realised, SOL',
    ({ realized_sol }) => realized_sol,
    showProfit,
    'Profit of what was sold; each sell is matched with the oldest buys',
  ),
  numberColumn(
    'return',
    'Return',
    ({ return_pct }) => return_pct,
    (percent) => <Return percent={percent} />,
    'Realised and unrealised profit as a percentage of what was spent on buys',
  ),
  {
    key: 'amount',
    title: 'Tokens',
    isNumeric: true,
    cell: ({ amount, token }) => <TokenAmount raw={amount} decimals={token.decimals} />,
  },
  numberColumn('cost', 'Cost, SOL', ({ cost_sol }) => cost_sol, showSolNumber),
  numberColumn(
    'average',
    'Mean cost of a token, SOL',
    ({ avg_cost_sol }) => avg_cost_sol,
    (price) => <FormattedText value={formatPrice(price)} />,
  ),
  {
    key: 'price',
    title: 'Price, SOL',
    description: 'Of one token, and how old the price is',
    isNumeric: true,
    sortValue: ({ price_sol }) => price_sol,
    cell: ({ price_sol, price_source, price_age_seconds }) => (
      <span
        title={
          price_age_seconds === null
            ? 'not known'
            : `From a ${price_source}, ${formatDuration(price_age_seconds).text} old`
        }
      >
        {formatPrice(price_sol).text}
      </span>
    ),
  },
  numberColumn('bought', 'Bought, SOL', ({ bought_sol }) => bought_sol, showSolNumber),
  numberColumn('sold', 'Sold, SOL', ({ sold_sol }) => sold_sol, showSolNumber),
  numberColumn('buys', 'Buys', ({ buys }) => buys, showCount),
  numberColumn('sells', 'Sells', ({ sells }) => sells, showCount),
  numberColumn(
    'holding',
    'Held for',
    ({ holding_seconds }) => holding_seconds,
    showDuration,
    'From the first swap to now, or to the last one of a closed position',
  ),
  {
    key: 'last',
    title: 'Last trade',
    isNumeric: true,
    sortValue: ({ last_trade_at }) => last_trade_at,
    cell: ({ last_trade_at }) => <TimeAgo unix={last_trade_at} />,
  },
]

/** Keys of the columns that are shown until the customer chooses others. */
export const POSITIONS_SHOWN_AT_FIRST = [
  'value',
  'unrealised',
  'realised',
  'return',
  'amount',
  'cost',
  'price',
  'holding',
  'last',
  'history',
]

function Return({ percent }: { percent: number | null }) {
  const { text, exact } = formatNumber(percent, 1)
  const unit = percent === null ? '' : '%'
  const value = withSign(percent ?? 0, { text: `${text}${unit}`, exact: `${exact}${unit}` })
  const direction = percent === null || percent === 0 ? '' : percent > 0 ? 'is-good' : 'is-bad'
  return (
    <span class={direction}>
      <FormattedText value={value} />
    </span>
  )
}
