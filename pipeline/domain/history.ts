/**
 * A checkpoint in reading a wallet's history: every transaction of this slot and later was
 * returned.
 */
export interface HistoryPosition {
  readonly slot: number
  /** A transaction of that slot; empty when whole blocks were read. */
  readonly signature: string
}

/** A range of slots, both ends included; null: no bound. */
export interface HistoryRange {
  readonly fromSlot: number | null
  readonly toSlot: number | null
}
