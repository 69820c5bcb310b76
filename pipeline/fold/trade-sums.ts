import type { FoldEvent } from './fold-event.ts'

/** What the swaps of a token sum up to, transfers left out (rule C14). Raw units, lamports, unix seconds. */
export interface TradeSums {
  bought: bigint
  sold: bigint
  boughtLamports: bigint
  soldLamports: bigint
  /** Null before there is one; first and last by event key. */
  firstBuyTime: number | null
  firstTradeTime: number | null
  lastTradeTime: number | null
}

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

/** Books a swap, in place: as it happened, or as it is served. */
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
