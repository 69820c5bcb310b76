import type { FoldEvent } from './fold-event.ts'

/**
 * Sums of the swaps of a token, without transfers (rule C14). Raw units, lamports, unix seconds.
 */
export interface TradeSums {
  bought: bigint
  sold: bigint
  boughtLamports: bigint
  soldLamports: bigint
  /** Block times, in event-key order; null before the first such swap. */
  firstBuyTime: number | null
  firstTradeTime: number | null
  lastTradeTime: number | null
}

/** Returns the sums before the first swap. */
export function createTradeSums(): TradeSums {
  return {
    bought: 0n,
    sold: 0n,
    boughtLamports: 0n,
    soldLamports: 0n,
    firstBuyTime: null,
    firstTradeTime: null,
    lastTradeTime: null,
  }
}

/** Adds a swap in place, in its true or its served form. */
export function addTrade(
  sums: TradeSums,
  { kind, blockTime, amount, value }: Pick<FoldEvent, 'kind' | 'blockTime' | 'amount' | 'value'>,
): void {
  sums.firstTradeTime ??= blockTime
  sums.lastTradeTime = blockTime
  if (kind === 'buy') {
    sums.firstBuyTime ??= blockTime
    sums.bought += amount
    sums.boughtLamports += value ?? 0n
  } else {
    sums.sold += amount
    sums.soldLamports += value ?? 0n
  }
}
