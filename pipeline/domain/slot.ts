import type { BalanceRecord, KeptTransaction, Undecoded, WalletEvent } from './event.ts'

/** A SOL/USD price: USD x 10^9 for one SOL at a unix second (rule J7). */
export interface SolPrice {
  readonly time: number
  readonly usdE9: bigint
}

/**
 * Says on every partition of the log that a sealed slot is complete (rules K2, K3): whoever has read it has read
 * everything of that partition up to and including the slot.
 */
export interface SlotMarker {
  readonly slot: number
  /** The slot before it on this chain; numbers may be skipped. */
  readonly parent: number
  /** Unix seconds of the block. */
  readonly blockTime: number
  /** The pool's newest SOL/USD price at or before this slot, so that a restart at this marker prices the next slot alike; never the price of a file. */
  readonly solPrice: SolPrice | null
}

/** What the decoder makes of a transaction for a tracked wallet. */
export type DecodedRecord = WalletEvent | BalanceRecord | Undecoded

/** What a tracked wallet's transaction leaves on the log. */
export type WalletRecord = DecodedRecord | KeptTransaction

/**
 * Asks for the books of a wallet to be made anew from its stored events, whose rows have been changed or are to be trusted no longer. `revision` is the
 * one that they are to have at least: one above what was stored when it was asked, so that asking again, or being heard twice, does nothing
 * more (rules K1, K4).
 */
export interface Refold {
  readonly wallet: number
  readonly revision: number
}

/** A sealed slot on the log: its records in event-key order, acknowledged as a whole together with its marker. */
export interface SlotRecords {
  readonly marker: SlotMarker
  readonly records: readonly WalletRecord[]
}
