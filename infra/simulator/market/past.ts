import type { SolPrice } from '../../../pipeline/domain/slot.ts'
import { COMPRESSED_SLOTS, type CompressedSlots } from '../compressed-shape.ts'
import type { Market } from './market.ts'
import { priceAt } from './universe.ts'

/** Lengths in slots; multiples of `COMPRESSED_SLOTS`. */
const HOUR = 9_000
const TEN_MINUTES = 1_500
/** Slots between two prices: ten seconds. */
const PRICE_SLOTS = 25

/**
 * The compressed slots of a chain that starts at a slot: all but about the last `wholeSlots` before
 * it. Both bounds are rounded, so that a restart within some minutes mostly gives the same slots
 * and the service can go on with what it has fetched.
 */
export function compressedSlots(
  startSlot: number,
  wholeSlots: number,
  hours: number,
): CompressedSlots {
  const multiple = (slot: number, of: number) => Math.max(0, Math.floor(slot / of)) * of
  return {
    from: multiple(startSlot - hours * HOUR, HOUR),
    before: multiple(startSlot - wholeSlots, TEN_MINUTES),
  }
}

/**
 * SOL in USD at each block of the compressed slots, and every ten seconds from there to slot `to`;
 * in order of time.
 */
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
