/**
 * The total order of everything tracked wallets did, and the primary key of every stored event
 * (rules of section A): slot, index of the transaction in its block, wallet number, place among that
 * wallet's events of the transaction.
 */
export interface EventKey {
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly eventIndex: number
}

/** Compares two keys in event-key order: negative, zero or positive, as `Array.prototype.sort` wants it. */
export function compareEventKeys(a: EventKey, b: EventKey): number {
  return (
    a.slot - b.slot || a.txIndex - b.txIndex || a.wallet - b.wallet || a.eventIndex - b.eventIndex
  )
}

/** One text for one key, for maps and sets within a process; never shown to anybody. */
export function eventKeyText(key: EventKey): string {
  return `${key.slot}/${key.txIndex}/${key.wallet}/${key.eventIndex}`
}
