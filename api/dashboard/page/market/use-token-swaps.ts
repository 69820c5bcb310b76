import type { SwapItem } from '../../../items/swap.ts'
import { type PaidList, usePaidList } from '../data/use-paid-list.ts'

/** Price of a request for up to 200 swaps, in credits. */
export const SWAPS_PRICE = 3

/** The swaps of a token by tracked wallets, newest first, in pages of 200. */
export type TokenSwaps = PaidList<SwapItem>

/** Loads the swaps of a token. */
export function useTokenSwaps(mint: string): TokenSwaps {
  return usePaidList(`/tokens/${encodeURIComponent(mint)}/swaps?limit=200`, SWAPS_PRICE)
}
