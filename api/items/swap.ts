import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import type { ServedSwap } from '../../pipeline/domain/perturbation.ts'
import { WSOL } from '../../pipeline/domain/quote.ts'
import { componentSchema } from './component-schema.ts'
import { alias, decimals, mint, program, rawAmount, side, swapValue, time } from './fields.ts'
import { type PublishedSwap, valueFields } from './trade.ts'

/** A swap of one token, as customers see it (contract 2.1). */
export const SwapItem = componentSchema('Swap', 'A swap of a tracked wallet on one token.', {
  block_time: time.describe('Trade time, unix seconds of the block'),
  wallet: alias,
  side,
  base_mint: mint.describe('Address of the traded token'),
  base_amount: rawAmount.describe('Raw token amount; divide by 10^`base_decimals`'),
  base_decimals: decimals,
  quote_mint: mint.meta({
    description: 'Quote coin: WSOL, USDC or USDT; without one, WSOL with `quote_amount` 0',
    examples: [WSOL],
  }),
  quote_amount: rawAmount.describe(
    'Raw quote amount including all fees: what the wallet paid or received',
  ),
  program,
  confidence: z.enum(['high', 'delta_only']).meta({
    description: '`high`: decoded from an instruction; `delta_only`: derived from balance changes',
  }),
  quote_mismatch: z.boolean().meta({
    description: 'True if no opposing quote amount was found; such a swap has no value in SOL',
  }),
  ...swapValue,
})
export type SwapItem = z.infer<typeof SwapItem>

/**
 * Renders a swap; fields in the contract's order. A swap without a quote coin has WSOL and `"0"`
 * (rule B7).
 */
export function swapItem(
  swap: ServedSwap<PublishedSwap & Pick<Swap, 'confidence' | 'quoteMismatch'>>,
  symbol: string | null = null,
): SwapItem {
  return {
    block_time: swap.blockTime,
    wallet: aliasOf(swap.wallet),
    side: swap.side,
    base_mint: swap.baseMint,
    base_amount: swap.baseAmount.toString(),
    base_decimals: swap.baseDecimals,
    quote_mint: swap.quoteMint ?? WSOL,
    quote_amount: swap.quoteAmount.toString(),
    program: swap.program,
    confidence: swap.confidence,
    quote_mismatch: swap.quoteMismatch,
    ...valueFields(swap),
    symbol,
  }
}
