import type { SwapItem } from '../../../items/swap.ts'
import { formatPrice, formatSol } from '../data/format.ts'
import { FormattedText, TimeAgo, TokenAmount, WalletLink } from '../data/formatted.tsx'
import type { TableColumn } from '../data/table-column.ts'
import { TradeSide } from '../data/trade-side.tsx'
import { QuoteAmount } from './quote-amount.tsx'

/** Columns for the swaps of one token. */
export const TOKEN_SWAP_COLUMNS: readonly TableColumn<SwapItem>[] = [
  { key: 'time', title: 'Time', cell: ({ block_time }) => <TimeAgo unix={block_time} /> },
  { key: 'wallet', title: 'Wallet', cell: ({ wallet }) => <WalletLink alias={wallet} /> },
  { key: 'side', title: 'Side', cell: ({ side }) => <TradeSide side={side} /> },
  {
    key: 'amount',
    title: 'Tokens',
    isNumeric: true,
    cell: ({ base_amount, base_decimals }) => (
      <TokenAmount raw={base_amount} decimals={base_decimals} />
    ),
  },
  {
    key: 'quote',
    title: 'For',
    isNumeric: true,
    cell: ({ quote_mint, quote_amount }) => (
      <QuoteAmount mint={quote_amount === '0' ? null : quote_mint} raw={quote_amount} />
    ),
  },
  {
    key: 'value',
    title: 'Value, SOL',
    isNumeric: true,
    cell: ({ sol_value }) => <FormattedText value={formatSol(sol_value)} />,
  },
  {
    key: 'price',
    title: 'Price, SOL',
    isNumeric: true,
    cell: ({ price_sol }) => <FormattedText value={formatPrice(price_sol)} />,
  },
  { key: 'program', title: 'Program', cell: ({ program }) => program },
  {
    key: 'source',
    title: 'Decoded from',
    description:
      'The instruction of the program, or only the balance changes of the transaction. “Uncertain price”: no quote amount matches the swap.',
    cell: ({ confidence, quote_mismatch }) =>
      `${confidence === 'high' ? 'instruction' : 'balance changes'}${quote_mismatch ? ', uncertain price' : ''}`,
  },
]
