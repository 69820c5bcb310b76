import type { SolPrice } from '../../../pipeline/domain/slot.ts'
import { COMPRESSED_SLOTS, type CompressedSlots } from '../compressed-shape.ts'
import type { Market } from './market.ts'
import { priceAt } from './universe.ts'

/** In slots; multiples of `COMPRESSED_SLOTS`. */
const HOUR = 9_000
const TEN_MINUTES = 1_500
/** Slots from one price to the next: ten seconds. */
const PRICE_SLOTS = 25

/**
 * Of a chain that starts at a slot: the last `wholeSlots` or so before it are not compressed. Of two that start within some minutes of each other they are
 * most often the same, so that what one has fetched a part of the other goes on with.
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
