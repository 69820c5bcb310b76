import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import { WSOL } from '../../pipeline/domain/quote.ts'

/** A trade as the public sees it, the same from `GET /trades` and on the socket (contract 2.2). */
export const TradeItem = z.strictObject({
  block_time: z.int().meta({ description: 'Trade time, unix seconds' }),
  wallet: z.string().meta({ description: 'Wallet alias, never a real address' }),
  side: z.enum(['buy', 'sell']),
  mint: z.string().meta({ description: 'Traded token address' }),
  token_amount: z.string().meta({ description: 'Raw token amount; divide by 10^decimals' }),
  decimals: z.int(),
  sol_amount: z.number().meta({ description: 'SOL, not lamports; 0 when the quote is not WSOL' }),
  quote_mint: z.string().nullable().meta({ description: 'WSOL, USDC or USDT, or null' }),
  quote_amount: z.string().meta({ description: 'Raw quote amount' }),
  program: z.string().meta({ description: 'DEX or launchpad the swap routed through' }),
})
export type TradeItem = z.infer<typeof TradeItem>

/** What of a swap is published. */
export type PublishedSwap = Pick<
  Swap,
  | 'blockTime'
  | 'wallet'
  | 'side'
  | 'baseMint'
  | 'baseAmount'
  | 'baseDecimals'
  | 'quoteMint'
  | 'quoteAmount'
  | 'program'
>

/** Renders a swap as a trade; fields in the contract's order. */
export function tradeItem(swap: PublishedSwap): TradeItem {
  return {
    block_time: swap.blockTime,
    wallet: aliasOf(swap.wallet),
    side: swap.side,
    mint: swap.baseMint,
    token_amount: swap.baseAmount.toString(),
    decimals: swap.baseDecimals,
    sol_amount: swap.quoteMint === WSOL ? nearestNumber(swap.quoteAmount, LAMPORTS_PER_SOL) : 0,
    quote_mint: swap.quoteMint,
    quote_amount: swap.quoteAmount.toString(),
    program: swap.program,
  }
}
