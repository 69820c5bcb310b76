import type { SlotSchedule, TradeArrival } from './protocol.ts'

/** What became of the trades of a schedule. */
export interface TradeTally {
  readonly expected: number
  readonly missing: number
  readonly repeated: number
  /** Trades that came after a later one of their webhook. */
  readonly disordered: number
}

/** Whose trades a slot has: numbers of webhooks, in the order of the slot. */
export function hooksOf(slot: number, { firstSlot, perSlot, hooks }: SlotSchedule): number[] {
  const first = (slot - firstSlot) * perSlot
  return Array.from({ length: perSlot }, (_, at) => (first + at) % hooks)
}

/**
 * Compares what came with a schedule, without the webhooks whose receivers never answer. `arrivals`
 * is in the order in which it came.
 */
export function tally(
  schedule: SlotSchedule,
  held: ReadonlySet<number>,
  arrivals: readonly TradeArrival[],
): TradeTally {
  const { firstSlot, slots } = schedule
  const expected = new Set<string>()
  for (let slot = firstSlot; slot < firstSlot + slots; slot++)
    for (const hook of hooksOf(slot, schedule)) if (!held.has(hook)) expected.add(`${hook}/${slot}`)
  const came = new Set<string>()
  const newest = new Map<number, number>()
  let disordered = 0
  for (const [hook, slot] of arrivals) {
    came.add(`${hook}/${slot}`)
    if (slot < (newest.get(hook) ?? 0)) disordered++
    newest.set(hook, Math.max(slot, newest.get(hook) ?? 0))
  }
  return {
    expected: expected.size,
    missing: [...expected].filter((one) => !came.has(one)).length,
    repeated: arrivals.length - came.size,
    disordered,
  }
}
