import { useMemo } from 'preact/hooks'
import type { WalletAggregateItem } from '../../../items/wallet-aggregate.ts'
import { DataTable } from '../data/data-table.tsx'
import {
  showPercent,
  showSol,
  showUsd,
  TimeAgo,
  TokenAmount,
  WalletLink,
} from '../data/formatted.tsx'
import { aliasNumber } from '../data/sorting.ts'
import { numberColumn, type TableColumn } from '../data/table-column.ts'

/** Totals of a token by wallet. `decimals` is undefined until a swap of the token is loaded. */
export function WalletAggregates(props: {
  readonly wallets: readonly WalletAggregateItem[]
  readonly decimals: number | undefined
}) {
  const { wallets, decimals } = props
  const columns = useMemo(() => [...tokenColumns(decimals ?? 0), ...VALUE_COLUMNS], [decimals])
  return (
    <>
      {decimals === undefined && (
        <p class="about">
          Amounts of tokens are in raw units until you load the swaps, which contain the token’s
          decimals.
        </p>
      )}
      <DataTable
        caption={
          wallets.length === 1
            ? '1 tracked wallet traded this token'
            : `${wallets.length} tracked wallets traded this token`
        }
        columns={columns}
        rows={wallets}
        rowKey={({ wallet }) => wallet}
      />
      {wallets.some(({ base_net }) => base_net.startsWith('-')) && (
        <p class="about">
          “Tokens held” is tokens bought less tokens sold, by swaps only. It is negative for a
          wallet that sold tokens it had received by transfer.
        </p>
      )}
    </>
  )
}

function tokenColumns(decimals: number): readonly TableColumn<WalletAggregateItem>[] {
  const amount = (
    key: 'base_bought' | 'base_sold' | 'base_net',
    title: string,
    description: string,
  ): TableColumn<WalletAggregateItem> => ({
    key,
    title,
    description,
    isNumeric: true,
    sortValue: (row) => BigInt(row[key]),
    cell: (row) => <TokenAmount raw={row[key]} decimals={decimals} />,
  })
  return [
    {
      key: 'wallet',
      title: 'Wallet',
      isAscendingFirst: true,
      sortValue: ({ wallet }) => aliasNumber(wallet),
      cell: ({ wallet }) => <WalletLink alias={wallet} />,
    },
    {
      key: 'trades',
      title: 'Buys / sells',
      isNumeric: true,
      sortValue: ({ buys, sells }) => buys + sells,
      cell: ({ buys, sells }) => `${buys} / ${sells}`,
    },
    amount('base_bought', 'Tokens bought', 'By swaps only, without transfers'),
    amount('base_sold', 'Tokens sold', 'By swaps only, without transfers'),
    amount('base_net', 'Tokens held', 'Tokens bought less tokens sold, by swaps only'),
  ]
}

const VALUE_COLUMNS: readonly TableColumn<WalletAggregateItem>[] = [
  numberColumn(
    'share',
    'Share held',
    ({ pct_held }) => pct_held * 100,
    showPercent,
    'Tokens held as a percentage of the tokens bought',
  ),
  numberColumn('spent', 'Spent on buys', ({ sol_in }) => sol_in, showSol),
  numberColumn('received', 'Received from sells', ({ sol_out }) => sol_out, showSol),
  numberColumn(
    'entry',
    'Entry market cap',
    ({ entry_mcap }) => entry_mcap,
    showUsd,
    'Market cap in USD at the wallet’s first buy',
  ),
  {
    key: 'first',
    title: 'First buy',
    isAscendingFirst: true,
    sortValue: ({ first_buy_time }) => first_buy_time,
    cell: ({ first_buy_time }) => <TimeAgo unix={first_buy_time} />,
  },
  {
    key: 'last',
    title: 'Last trade',
    sortValue: ({ last_trade_time }) => last_trade_time,
    cell: ({ last_trade_time }) => <TimeAgo unix={last_trade_time} />,
  },
]
