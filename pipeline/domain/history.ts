/** A checkpoint of a walk: every transaction of this slot and of later slots was returned. */
export interface HistoryPosition {
  readonly slot: number
  /** A transaction of that slot. */
  readonly signature: string
}

/** A range of slots, both ends included; null: no bound. */
export interface HistoryRange {
  readonly fromSlot: number | null
  readonly toSlot: number | null
}
