import type { Swap } from './event.ts'
import { isDollar, WSOL } from './quote.ts'

/**
 * Returns the value of a swap in lamports, rounded down (rule C1). For WSOL it is the quote amount;
 * for USDC and USDT (6 decimals) the amount divided by the swap's own SOL/USD price. Null with
 * `quoteMismatch`, without a quote, and without a price.
 *
 * Example: 30 USDC (30000000 raw) at 150 USD per SOL (150 x 10^9) is 200000000 lamports.
 */
export function swapValueLamports(
  swap: Pick<Swap, 'quoteMint' | 'quoteAmount' | 'quoteMismatch' | 'solPriceUsdE9'>,
): bigint | null {
  if (swap.quoteMismatch) return null
  if (swap.quoteMint === WSOL) return swap.quoteAmount
  if (!isDollar(swap.quoteMint)) return null
  if (swap.solPriceUsdE9 === null || swap.solPriceUsdE9 === 0n) return null
  return (swap.quoteAmount * 1_000_000_000_000n) / swap.solPriceUsdE9
}

/** Returns a swap with its value (rule C1). */
export function withValue<T extends Parameters<typeof swapValueLamports>[0]>(
  swap: T,
): T & { readonly valueLamports: bigint | null } {
  return { ...swap, valueLamports: swapValueLamports(swap) }
}
