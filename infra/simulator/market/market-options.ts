import type { CompressedSlots } from '../compressed-shape.ts'

/** How large a market is. */
export interface MarketOptions {
  readonly seed: number
  readonly wallets: number
  readonly coins: number
  /** Transactions of tracked wallets a slot, on average. */
  readonly trackedPerSlot: number
  /** Transactions a slot that touch no tracked wallet. */
  readonly othersPerSlot: number
  /**
   * The slots of a compressed history (`compressBefore`); without it, the history is whole. With
   * it, wallets also hold coins for hours. Their trades of these are in the first blocks of
   * minutes, which a compressed history has too. Everything else begins with the first whole slot.
   */
  readonly compressed?: CompressedSlots | undefined
}
