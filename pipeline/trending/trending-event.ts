import { coarsen, PRICE_DIGITS } from '../domain/coarsen.ts'
import { compareEventKeys, type EventKey } from '../domain/event-key.ts'
import { type Perturb, perturbAmount } from '../domain/perturbation.ts'
import type { FoldEvent } from '../fold/fold-event.ts'

/** A swap or a token transfer of a tracked wallet, as the engine takes it. */
export interface TrendingEvent extends FoldEvent, EventKey {
  readonly kind: 'buy' | 'sell' | 'token_in' | 'token_out'
  /** Of a swap: address of the pool that it went through; '' where none is known, and of transfers. */
  readonly pool: string
}

/** Served times lie at most this many seconds before the true ones (`createPerturb`). */
export const MOST_EARLIER_SECONDS = 16

/**
 * An event as it is served (rules I2, I2a), transfers too: their amounts would tell what the
 * salt hides of a lot. The SOL price has three digits, because the whole one would tell the second
 * of the trade. Identity without a salt.
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

/** In the order in which events count: by time, then by event key. */
export function compareTimed(a: TimedEvent, b: TimedEvent): number {
  return a.time - b.time || compareEventKeys(a.event, b.event)
}
