import type { FoldEvent } from './fold-event.ts'

/** Tokens that a wallet got in one event; used up oldest first (rule C2). Raw units and lamports. */
export interface Lot {
  readonly slot: number
  readonly txIndex: number
  readonly eventIndex: number
  /** Unix seconds of the event that made it. */
  readonly time: number
  readonly origin: 'buy' | 'transfer'
  /** Amount and cost as the lot was made. */
  readonly amount: bigint
  readonly cost: bigint
  /** What is left of both. */
  left: bigint
  leftCost: bigint
  /** Of a bought lot: what sells consumed at most 15 s after the buy (rule C9). */
  quickSold: bigint
  /** Whether it has changed since its row was last made. */
  dirty: boolean
  /** The lot after it; null for the newest, and once it is used up. */
  next: Lot | null
}

/** Open lots as a chain, oldest first: most positions have one or two, and an array of them is half empty. */
export interface LotQueue {
  oldest: Lot | null
  newest: Lot | null
}

/** Puts a lot behind all others. */
export function addNewest(queue: LotQueue, lot: Lot): void {
  if (queue.newest === null) queue.oldest = lot
  else queue.newest.next = lot
  queue.newest = lot
}

/** The open lots, oldest first. */
export function openLots(queue: LotQueue): Lot[] {
  const lots: Lot[] = []
  for (let lot = queue.oldest; lot !== null; lot = lot.next) lots.push(lot)
  return lots
}

/** The part of one lot that one event took. */
export interface Part {
  readonly lot: Lot
  readonly amount: bigint
  readonly cost: bigint
}

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
 * Takes `amount` raw units from the oldest lots; what is beyond all lots is not taken. Gives the parts, oldest first.
 *
 * A part costs `lot.cost x part / lot.amount`, both as the lot was made, rounded down; a lot's last part costs what is left, so the costs of a
 * lot's parts add up to its cost (rule C3).
 */
export function takeOldest(queue: LotQueue, amount: bigint): Part[] {
  const parts: Part[] = []
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
 * Splits the value of a sell of `amount` over the parts it matched: `value x matched / amount`, rounded down once (all of it when all is
 * matched), then part by part like cost, rounded down, the last part taking what is left (rule C3).
 */
export function splitProceeds(value: bigint, amount: bigint, parts: readonly Part[]): bigint[] {
  let matched = 0n
  for (const part of parts) matched += part.amount
  const proceeds = matched === amount ? value : (value * matched) / amount
  let left = proceeds
  return parts.map((part, place) => {
    const share = place === parts.length - 1 ? left : (proceeds * part.amount) / matched
    left -= share
    return share
  })
}
