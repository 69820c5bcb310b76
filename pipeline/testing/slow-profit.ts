import { slowToken } from './slow-books.ts'
import type { SlowEvent } from './slow-events.ts'
import type { SlowPrice } from './slow-prices.ts'

/** What is lost and gained at a time, by rules L7 and L8, from plain loops over all events. */
export interface SlowProfit {
  readonly realized: bigint
  readonly openCost: bigint
  /** Values of all swaps. */
  readonly traded: bigint
  /** Open positions by mint: amount and cost. */
  readonly open: ReadonlyMap<string, { readonly amount: bigint; readonly cost: bigint }>
}

/** One position of a wallet, by rule L7. */
export interface SlowPosition {
  readonly mint: string
  readonly decimals: number
  readonly amount: bigint
  readonly cost: bigint
  readonly realized: bigint
  readonly boughtLamports: bigint
  readonly soldLamports: bigint
  readonly buys: number
  readonly sells: number
  readonly firstTradeTime: number | null
  readonly lastTradeTime: number | null
  readonly last: { readonly slot: number; readonly txIndex: number; readonly eventIndex: number }
}

/** The events that a mode folds (rule L6). */
export function slowEventsOf(
  events: readonly SlowEvent[],
  mode: 'raw' | 'strict',
): readonly SlowEvent[] {
  return events.filter(
    ({ kind, mint }) => kind === 'buy' || kind === 'sell' || (mode === 'raw' && mint !== ''),
  )
}

/** Returns the positions that events of a mode make, in event-key order, newest event first. */
export function slowPositions(events: readonly SlowEvent[]): SlowPosition[] {
  const newestFirst = events.toReversed().map(({ mint }) => mint)
  return [...new Set(newestFirst)].map((mint) => {
    const own = events.filter((event) => event.mint === mint)
    const token = slowToken(own)
    const { slot = 0, txIndex = 0, eventIndex = 0, decimals = 0 } = own.at(-1) ?? {}
    return {
      mint,
      decimals,
      amount: token.open,
      cost: token.openCost,
      realized: token.realized,
      boughtLamports: token.boughtLamports,
      soldLamports: token.soldLamports,
      buys: token.buys,
      sells: token.sells,
      firstTradeTime: token.firstTrade?.blockTime ?? null,
      lastTradeTime: token.lastTrade?.blockTime ?? null,
      last: { slot, txIndex, eventIndex },
    }
  })
}

/** Returns what those of the events of a mode that are at or before a time add up to. */
export function slowProfitAt(events: readonly SlowEvent[], time: number): SlowProfit {
  const positions = slowPositions(events.filter(({ blockTime }) => blockTime <= time))
  let [realized, openCost, traded] = [0n, 0n, 0n]
  const open = new Map<string, { amount: bigint; cost: bigint }>()
  for (const { mint, amount, cost, ...position } of positions) {
    realized += position.realized
    openCost += cost
    traded += position.boughtLamports + position.soldLamports
    if (amount > 0n) open.set(mint, { amount, cost })
  }
  return { realized, openCost, traded, open }
}

/** Returns the price of a mint at a time (rule L5). */
export type PriceAt = (mint: string, time: number) => SlowPrice | null

/** What an amount is worth: lamports, rounded down (rule L7). */
export function slowWorth(amount: bigint, { price }: SlowPrice): bigint {
  return (amount * price.over) / price.under
}

/** Returns the points of a wallet's profit at some times, each from all events (rule L8). */
export function slowPoints(
  events: readonly SlowEvent[],
  times: readonly number[],
  interval: number,
  priceAt: PriceAt,
) {
  return times.map((time) => {
    const { realized, openCost, traded, open } = slowProfitAt(events, time)
    let [value, pricedCost, unpriced] = [0n, 0n, 0]
    for (const [mint, { amount, cost }] of open) {
      const price = priceAt(mint, time)
      if (price === null) unpriced += 1
      else {
        value += slowWorth(amount, price)
        pricedCost += cost
      }
    }
    const volume = traded - slowProfitAt(events, time - interval).traded
    return { time, realized, openCost, volume, value, pricedCost, unpriced }
  })
}
