import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import type { ServedSwap } from '../../pipeline/domain/perturbation.ts'
import { WSOL } from '../../pipeline/domain/quote.ts'
import { alias, decimals, mint, program, rawAmount, side, swapValue, time } from './fields.ts'

/** A trade as customers see it, the same in `GET /trades` and on the feed (contract 2.2). */
export const TradeItem = z
  .strictObject({
    block_time: time.describe('Trade time, unix seconds of the block'),
    wallet: alias.describe('Alias of the wallet, never a real address'),
    side,
    mint: mint.describe('Address of the traded token'),
    token_amount: rawAmount.describe('Raw token amount; divide by 10^`decimals`'),
    decimals,
    sol_amount: z
      .number()
      .min(0)
      .meta({ description: 'SOL, not lamports; 0 if the quote coin is not WSOL', examples: [1.5] }),
    quote_mint: mint.nullable().meta({
      description: 'Quote coin: WSOL, USDC or USDT; null if there was none (one token for another)',
    }),
    quote_amount: rawAmount.describe(
      'Raw quote amount including all fees: what the wallet paid or received; `0` without a quote coin',
    ),
    program,
    ...swapValue,
  })
  .meta({
    id: 'Trade',
    description:
      'A trade of a tracked wallet. `GET /trades` and the feed have the same object for the same trade; the feed sends it once, so a value or symbol that is filled in later shows in `GET /trades` alone.',
  })
export type TradeItem = z.infer<typeof TradeItem>

/** Example of a trade for the documents. */
export const EXAMPLE_TRADE: TradeItem = {
  block_time: 1790000000,
  wallet: 'W12',
  side: 'buy',
  mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
  token_amount: '123456789',
  decimals: 5,
  sol_amount: 1.5,
  quote_mint: WSOL,
  quote_amount: '1500000000',
  program: 'pumpswap',
  sol_value: 1.5,
  price_sol: 0.001215,
  symbol: 'Bonk',
}

/** The fields of a swap that may be published. */
export type PublishedSwap = { readonly valueLamports: bigint | null } & Pick<
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

/** Renders a swap as a trade; fields in the contract's order. `symbol`: null if not known. */
export function tradeItem(
  swap: ServedSwap<PublishedSwap>,
  symbol: string | null = null,
): TradeItem {
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
    ...valueFields(swap),
    symbol,
  }
}

/** Renders what a swap is worth (rule L3). */
export function valueFields({
  valueLamports: value,
  baseAmount,
  baseDecimals,
}: Pick<PublishedSwap, 'valueLamports' | 'baseAmount' | 'baseDecimals'>) {
  if (value === null) return { sol_value: null, price_sol: null }
  const whole = 10n ** BigInt(baseDecimals)
  return {
    sol_value: nearestNumber(value, LAMPORTS_PER_SOL),
    price_sol:
      baseAmount === 0n ? null : nearestNumber(value * whole, baseAmount * LAMPORTS_PER_SOL),
  }
}
