import type { Swap, WalletEvent } from '../domain/event.ts'
import { USDC, USDT, WSOL } from '../domain/quote.ts'

/**
 * Effect of an event on the books, in the terms of rules C2 to C4. It is written independently of
 * the fold's `FoldEvent`, so that a fault there shows.
 */
export interface SlowEvent {
  readonly slot: number
  readonly txIndex: number
  readonly eventIndex: number
  /** Unix seconds of the block. */
  readonly blockTime: number
  readonly kind: 'buy' | 'sell' | 'token_in' | 'token_out' | 'sol_in' | 'sol_out'
  /** Mint of the token; empty for SOL. */
  readonly mint: string
  readonly decimals: number
  /** Raw token units, or lamports for SOL. */
  readonly amount: bigint
  /** Value of a swap in lamports; null if it has none, and for transfers. */
  readonly value: bigint | null
}

/** Returns an event in the form of the slow reference. */
export function slowEvent(event: WalletEvent): SlowEvent {
  const { slot, txIndex, eventIndex, blockTime } = event
  const eventFields = { slot, txIndex, eventIndex, blockTime }
  if (event.kind === 'swap') {
    const { side: kind, baseMint: mint, baseDecimals: decimals, baseAmount: amount } = event
    return { ...eventFields, kind, mint, decimals, amount, value: slowValue(event) }
  }
  const direction = event.direction
  if (event.kind === 'token_transfer') {
    const { mint, decimals, amount } = event
    return { ...eventFields, kind: `token_${direction}`, mint, decimals, amount, value: null }
  }
  const amount = event.lamports
  return { ...eventFields, kind: `sol_${direction}`, mint: '', decimals: 9, amount, value: null }
}

/**
 * Value of a swap in lamports (rule C1), rounded down. A dollar coin of 6 decimals buys raw / 10^6
 * / (price / 10^9) SOL of 10^9 lamports.
 */
export function slowValue(swap: Swap): bigint | null {
  const { quoteMint, quoteAmount, quoteMismatch, solPriceUsdE9 } = swap
  if (quoteMismatch || quoteMint === null) return null
  if (quoteMint === WSOL) return quoteAmount
  if ((quoteMint !== USDC && quoteMint !== USDT) || solPriceUsdE9 === null) return null
  return (quoteAmount * 10n ** 9n * 10n ** 9n) / (solPriceUsdE9 * 10n ** 6n)
}

/**
 * Returns the SOL prices that a swap in USDC or USDT may have (rule C1), given `prices` by unix
 * second.
 *
 * The right one is the newest at or before its second. A later block of the same second may bring
 * the price of that second after the swap was valued. Then the newest price before that second is
 * right too.
 */
export function slowPrices(
  prices: ReadonlyMap<number, bigint>,
  blockTime: number,
  maxAgeSeconds: number,
): readonly bigint[] {
  const newest = (until: number): readonly bigint[] => {
    for (let time = until; time >= blockTime - maxAgeSeconds; time -= 1) {
      const price = prices.get(time)
      if (price !== undefined) return [price]
    }
    return []
  }
  return [...newest(blockTime), ...newest(blockTime - 1)]
}
