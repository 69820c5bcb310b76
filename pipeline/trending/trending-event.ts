import { coarsen, PRICE_DIGITS } from '../domain/coarsen.ts'
import { compareEventKeys, type EventKey } from '../domain/event-key.ts'
import { type Perturb, perturbAmount } from '../domain/perturbation.ts'
import type { FoldEvent } from '../fold/fold-event.ts'

/** A swap or token transfer of a tracked wallet, with the fields that the engine needs. */
export interface TrendingEvent extends FoldEvent, EventKey {
  readonly kind: 'buy' | 'sell' | 'token_in' | 'token_out'
  /** Address of the pool of a swap; '' if unknown, and for transfers. */
  readonly pool: string
}

/**
 * Returns the served form of an event (rules I2, I2a). Transfers are perturbed too, because their
 * amounts would reveal the perturbation of a lot. The SOL price keeps three digits, because the
 * whole one would reveal the second of the trade. Returns the same object without a salt.
 */
export function serveEvent(event: TrendingEvent, perturb: Perturb | null): TrendingEvent {
  if (perturb === null) return event
  const perturbation = perturb(event)
  const { solPriceUsdE9 } = event
  return {
    ...event,
    blockTime: event.blockTime - perturbation.earlierSeconds,
    amount: perturbAmount(event.amount, perturbation),
    value: event.value === null ? null : perturbAmount(event.value, perturbation),
    solPriceUsdE9: solPriceUsdE9 === null ? null : coarsen(solPriceUsdE9, PRICE_DIGITS),
  }
}

/** An event and the time from which it counts. */
export interface TimedEvent {
  readonly time: number
  readonly event: TrendingEvent
}

/** Orders events by the time from which they count, then by event key. */
export function compareTimed(a: TimedEvent, b: TimedEvent): number {
  return a.time - b.time || compareEventKeys(a.event, b.event)
}
