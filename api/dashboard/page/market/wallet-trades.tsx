import type { TradeItem } from '../../../items/trade.ts'
import { EmptyNotice } from '../components/query-view.tsx'
import { DataTable } from '../data/data-table.tsx'
import { formatPrice, formatSol } from '../data/format.ts'
import { FormattedText, TimeAgo, TokenAmount } from '../data/formatted.tsx'
import { MoreButton } from '../data/more-button.tsx'
import { PaidView } from '../data/paid-view.tsx'
import type { TableColumn } from '../data/table-column.ts'
import { TokenSymbol } from '../data/token-symbol.tsx'
import { TradeSide } from '../data/trade-side.tsx'
import { type PaidList, usePaidList } from '../data/use-paid-list.ts'
import { QuoteAmount } from './quote-amount.tsx'

/** Loads the trades of a wallet, newest first. */
export function useWalletTrades(alias: string, price: number): PaidList<TradeItem> {
  return usePaidList(`/wallets/${encodeURIComponent(alias)}/trades?limit=50`, price)
}

/** The trades of a wallet. */
export function WalletTrades({ alias, list }: { alias: string; list: PaidList<TradeItem> }) {
  return (
    <PaidView query={list.first} what={`the trades of ${alias}`}>
      {() =>
        list.items.length === 0 ? (
          <EmptyNotice>{alias} has not traded yet.</EmptyNotice>
        ) : (
          <>
            <DataTable
              caption={
                list.isComplete
                  ? `All ${list.items.length} trades, newest first`
                  : `The newest ${list.items.length} trades`
              }
              columns={COLUMNS}
              rows={list.items}
              rowKey={(trade) => list.items.indexOf(trade)}
            />
            <MoreButton list={list} what="50 older trades" />
          </>
        )
      }
    </PaidView>
  )
}

const COLUMNS: readonly TableColumn<TradeItem>[] = [
  { key: 'time', title: 'Time', cell: ({ block_time }) => <TimeAgo unix={block_time} /> },
  { key: 'side', title: 'Side', cell: ({ side }) => <TradeSide side={side} /> },
  {
    key: 'token',
    title: 'Token',
    cell: ({ mint, symbol }) => <TokenSymbol mint={mint} symbol={symbol} />,
  },
  {
    key: 'value',
    title: 'Value, SOL',
    isNumeric: true,
    cell: ({ sol_value }) => <FormattedText value={formatSol(sol_value)} />,
  },
  {
    key: 'amount',
    title: 'Tokens',
    isNumeric: true,
    cell: ({ token_amount, decimals }) => <TokenAmount raw={token_amount} decimals={decimals} />,
  },
  {
    key: 'price',
    title: 'Price, SOL',
    isNumeric: true,
    cell: ({ price_sol }) => <FormattedText value={formatPrice(price_sol)} />,
  },
  {
    key: 'quote',
    title: 'For',
    isNumeric: true,
    cell: ({ quote_mint, quote_amount }) => <QuoteAmount mint={quote_mint} raw={quote_amount} />,
  },
  { key: 'program', title: 'Program', cell: ({ program }) => program },
]
