import { type Fraction, fraction } from '../domain/fraction.ts'
import { addNewest, type CostLot, type LotQueue, takeOldest } from '../fold/fifo.ts'
import type { TrendingEvent } from './trending-event.ts'

/** Position of a wallet in a token: sums of its swaps, and open lots (rules C2 to C4, C14). */
export interface Holder extends HolderSums, LotQueue<CostLot> {}

/** A position without its lots. Raw units, lamports, unix seconds. */
export interface HolderSums {
  readonly wallet: number
  bought: bigint
  sold: bigint
  boughtLamports: bigint
  /** Null before the first swap. */
  firstTradeAt: number | null
  firstBuy: {
    readonly amount: bigint
    readonly value: bigint | null
    readonly solUsdE9: bigint | null
  } | null
  /** Cost of the open lots. */
  openCost: bigint
  /**
   * Time from which the newest event counts. The next event does not count earlier, so the wallet's
   * events keep their order.
   */
  newestAt: number
}

/** Returns the position before the first event. */
export function createHolder(wallet: number): Holder {
  return {
    oldest: null,
    newest: null,
    wallet,
    bought: 0n,
    sold: 0n,
    boughtLamports: 0n,
    firstTradeAt: null,
    firstBuy: null,
    openCost: 0n,
    newestAt: 0,
  }
}

/** Whether the wallet holds the token by its swaps (rule C14). */
export function isHolding(holder: HolderSums): boolean {
  return holder.bought > holder.sold
}

/** Books an event that counts from `time`, in place. Events of a wallet come in event-key order. */
export function bookEvent(holder: Holder, event: TrendingEvent, time: number): void {
  const { kind, amount, value } = event
  if (kind === 'buy') {
    holder.firstTradeAt ??= time
    holder.firstBuy ??= { amount, value, solUsdE9: event.solPriceUsdE9 }
    holder.bought += amount
    holder.boughtLamports += value ?? 0n
    holder.openCost += value ?? 0n
    addNewest(holder, createLot(amount, value ?? 0n))
    return
  }
  if (kind === 'token_in') {
    addNewest(holder, createLot(amount, 0n))
    return
  }
  if (kind === 'sell') {
    holder.firstTradeAt ??= time
    holder.sold += amount
  }
  for (const part of takeOldest(holder, amount)) holder.openCost -= part.cost
}

function createLot(amount: bigint, cost: bigint): CostLot {
  return { amount, cost, left: amount, leftCost: cost, next: null }
}

/**
 * USD x 10^18 of one raw unit at the first buy (rule C15); null while its value or its SOL price is
 * unknown. Times the supply it is the entry market cap.
 */
export function entryPrice({ firstBuy }: HolderSums): Fraction | null {
  if (firstBuy === null) return null
  const { amount, value, solUsdE9 } = firstBuy
  return value === null || solUsdE9 === null ? null : fraction(value * solUsdE9, amount)
}
