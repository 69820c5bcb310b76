import type { FoldEvent } from './fold-event.ts'

/** What FIFO needs of a lot. Amounts in raw units, costs in lamports. */
export interface CostLot {
  /** Amount and cost when the lot was opened. */
  readonly amount: bigint
  readonly cost: bigint
  /** The remaining amount and cost. */
  left: bigint
  leftCost: bigint
  /** The next newer lot; null for the newest lot and for a consumed one. */
  next: this | null
}

/** Tokens that a wallet received in one event, consumed oldest first (rule C2). */
export interface Lot extends CostLot {
  readonly slot: number
  readonly txIndex: number
  readonly eventIndex: number
  /** Unix seconds of the event that opened the lot. */
  readonly time: number
  readonly origin: 'buy' | 'transfer'
  /** Amount of a bought lot that sells consumed at most 15 s after the buy (rule C9). */
  quickSold: bigint
  /** Whether the lot changed since its row was last written. */
  dirty: boolean
}

/**
 * The open lots of a position as a linked list, oldest first. Most positions have one or two lots,
 * for which an array would waste memory.
 */
export interface LotQueue<L extends CostLot = Lot> {
  oldest: L | null
  newest: L | null
}

/** Appends a lot as the newest. */
export function addNewest<L extends CostLot>(queue: LotQueue<L>, lot: L): void {
  if (queue.newest === null) queue.oldest = lot
  else queue.newest.next = lot
  queue.newest = lot
}

/** Returns the open lots, oldest first. */
export function openLots<L extends CostLot>(queue: LotQueue<L>): L[] {
  const lots: L[] = []
  for (let lot = queue.oldest; lot !== null; lot = lot.next) lots.push(lot)
  return lots
}

/** The part of one lot that one event consumed. */
export interface LotPart<L extends CostLot = Lot> {
  readonly lot: L
  readonly amount: bigint
  readonly cost: bigint
}

/** Returns a new lot of the amount of an event, at a cost in lamports. */
export function createLot(event: FoldEvent, origin: Lot['origin'], cost: bigint): Lot {
  return {
    slot: event.slot,
    txIndex: event.txIndex,
    eventIndex: event.eventIndex,
    time: event.blockTime,
    origin,
    amount: event.amount,
    cost,
    left: event.amount,
    leftCost: cost,
    quickSold: 0n,
    dirty: true,
    next: null,
  }
}

/**
 * Consumes `amount` raw units from the oldest lots and returns the parts, oldest first. An amount
 * beyond all lots is ignored.
 *
 * A part costs `lot.cost x part / lot.amount`, with amount and cost as opened, rounded down. The
 * last part of a lot costs the remainder, so the parts add up to the lot's cost (rule C3).
 */
export function takeOldest<L extends CostLot>(queue: LotQueue<L>, amount: bigint): LotPart<L>[] {
  const parts: LotPart<L>[] = []
  let wanted = amount
  while (wanted > 0n && queue.oldest !== null) {
    const lot = queue.oldest
    const whole = wanted >= lot.left
    const taken = whole ? lot.left : wanted
    const cost = whole ? lot.leftCost : (lot.cost * taken) / lot.amount
    parts.push({ lot, amount: taken, cost })
    wanted -= taken
    if (whole) {
      lot.left = 0n
      lot.leftCost = 0n
      queue.oldest = lot.next
      lot.next = null
    } else {
      lot.left -= taken
      lot.leftCost -= cost
    }
  }
  if (queue.oldest === null) queue.newest = null
  return parts
}

/**
 * Splits the value of a sell of `amount` over the parts that it matched (rule C3).
 *
 * The matched proceeds are `value x matched / amount`, rounded down once, or all of `value` if
 * everything is matched. They are split by amount, each share rounded down; the last part takes the
 * remainder.
 */
export function splitProceeds(value: bigint, amount: bigint, parts: readonly LotPart[]): bigint[] {
  let matched = 0n
  for (const part of parts) matched += part.amount
  const proceeds = matched === amount ? value : (value * matched) / amount
  let left = proceeds
  return parts.map((part, index) => {
    const share = index === parts.length - 1 ? left : (proceeds * part.amount) / matched
    left -= share
    return share
  })
}
