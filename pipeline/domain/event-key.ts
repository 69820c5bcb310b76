/**
 * The event key: total order of all events and primary key of every stored event (rules of section
 * A). Its fields are slot, index of the transaction in its block, wallet number, and index among
 * that wallet's events of the transaction.
 */
export interface EventKey {
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly eventIndex: number
}

/** Compares two keys in event-key order, for `Array.prototype.sort`: negative, zero or positive. */
export function compareEventKeys(a: EventKey, b: EventKey): number {
  return (
    a.slot - b.slot || a.txIndex - b.txIndex || a.wallet - b.wallet || a.eventIndex - b.eventIndex
  )
}

/** Returns a unique text of a key, for maps and sets within a process. Never served. */
export function eventKeyText(key: EventKey): string {
  return `${key.slot}/${key.txIndex}/${key.wallet}/${key.eventIndex}`
}
