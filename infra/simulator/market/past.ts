import type { SolPrice } from '../../../pipeline/domain/slot.ts'
import { COMPRESSED_SLOTS } from '../compressed-shape.ts'
import type { Market } from './market.ts'
import { priceAt } from './universe.ts'

/** Slots of an hour. */
const HOUR = 9_000
/** Slots from one price to the next: ten seconds. */
const PRICE_SLOTS = 25

/** The slots of a compressed history: from `from` on, one block a minute before slot `before`, every block from there on. */
export interface CompressedSlots {
  readonly from: number
  readonly before: number
}

/** Of a chain that starts at a slot: the last `wholeSlots` or so before it are not compressed. */
export function compressedSlots(
  startSlot: number,
  wholeSlots: number,
  hours: number,
): CompressedSlots {
  const minute = (slot: number) =>
    Math.max(0, Math.floor(slot / COMPRESSED_SLOTS)) * COMPRESSED_SLOTS
  return { from: minute(startSlot - hours * HOUR), before: minute(startSlot - wholeSlots) }
}

/** SOL in USD at each block of the compressed slots, and every ten seconds from there up to slot `to`; in order of time. */
export function solPricesOf(
  market: Market,
  { from, before, to }: CompressedSlots & { readonly to: number },
): SolPrice[] {
  const prices: SolPrice[] = []
  for (let slot = from; slot <= to; slot += slot < before ? COMPRESSED_SLOTS : PRICE_SLOTS) {
    // Raw units: 10^-6 USD for 10^-9 SOL.
    const usdE9 = BigInt(Math.round(priceAt(market.universe.pricePool, slot) * 1e12))
    prices.push({ time: market.timeOf(slot), usdE9 })
  }
  return prices
}
