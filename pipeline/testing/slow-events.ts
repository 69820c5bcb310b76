import type { Swap, WalletEvent } from '../domain/event.ts'
import { USDC, USDT, WSOL } from '../domain/quote.ts'

/** What an event does to the books, in the words of rules C2 to C4; written a second time, so that a fault in the fold's own reading shows. */
export interface SlowEvent {
  readonly slot: number
  readonly txIndex: number
  readonly eventIndex: number
  /** Unix seconds of the block. */
  readonly blockTime: number
  readonly kind: 'buy' | 'sell' | 'token_in' | 'token_out' | 'sol_in' | 'sol_out'
  /** The token; empty for SOL. */
  readonly mint: string
  readonly decimals: number
  /** Raw token units, or lamports for SOL. */
  readonly amount: bigint
  /** Of a swap: its value in lamports, null when it has none. Null for transfers. */
  readonly value: bigint | null
}

/** An event as the slow reference sees it. */
export function slowEvent(event: WalletEvent): SlowEvent {
  const { slot, txIndex, eventIndex, blockTime } = event
  const place = { slot, txIndex, eventIndex, blockTime }
  if (event.kind === 'swap') {
    const { side: kind, baseMint: mint, baseDecimals: decimals, baseAmount: amount } = event
    return { ...place, kind, mint, decimals, amount, value: slowValue(event) }
  }
  const direction = event.direction
  if (event.kind === 'token_transfer') {
    const { mint, decimals, amount } = event
    return { ...place, kind: `token_${direction}`, mint, decimals, amount, value: null }
  }
  const amount = event.lamports
  return { ...place, kind: `sol_${direction}`, mint: '', decimals: 9, amount, value: null }
}

/** The value of a swap in lamports (rule C1): a dollar coin of 6 decimals buys raw / 10^6 / (price / 10^9) SOL of 10^9 lamports, rounded down. */
export function slowValue(swap: Swap): bigint | null {
  const { quoteMint, quoteAmount, quoteMismatch, solPriceUsdE9 } = swap
  if (quoteMismatch || quoteMint === null) return null
  if (quoteMint === WSOL) return quoteAmount
  if ((quoteMint !== USDC && quoteMint !== USDT) || solPriceUsdE9 === null) return null
  return (quoteAmount * 10n ** 9n * 10n ** 9n) / (solPriceUsdE9 * 10n ** 6n)
}

/**
 * The prices that may stand in a swap in dollars (rule C1): the newest that is known for its second or before. A block's second may get its
 * price from a later block of the same second, when the swap is valued already: then the newest before that second is right too.
 * `prices` by their unix second.
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
