import { HOUR_SECONDS, type SwapPrice } from './figures.ts'
import { tickAt } from './watched-token.ts'

/** A swap of a token, and figures of the token after it. */
export interface SwapPoint {
  readonly time: number
  readonly side: 'buy' | 'sell'
  /** Value of the swap in lamports; null if it has none. */
  readonly value: bigint | null
  /** Number of holding wallets after the swap. */
  readonly holders: number
  /** Newest price, and newest known pool ('' before the first), after the swap. */
  readonly price: SwapPrice | null
  readonly pool: string
}

/** The swaps that are first part of the same tick: sums of their values, and figures after them. */
interface TickOfSwaps {
  readonly tick: number
  buys: bigint
  sells: bigint
  holders: number
  price: SwapPrice | null
  pool: string
}

/** Figures before the first swap. */
const NOTHING = { holders: 0, price: null, pool: '' } as const

/**
 * Swaps of a token within the last two hours, and its figures one hour ago. Points are added in the
 * order of their times, and time only moves forward. Swaps of one tick enter and leave together, so
 * they are kept as one, and a token takes at most 720 of them however often it is traded.
 */
export class HourWindow {
  #ticks: TickOfSwaps[] = []
  /** Indexes of the first tick within the last two hours, and of the first within the last hour. */
  #start = 0
  #hour = 0
  /** Values of buys and sells in the last hour, and of all swaps in the hour before. */
  buys = 0n
  sells = 0n
  before = 0n
  /** Figures of one hour ago. */
  ago: Pick<SwapPoint, 'holders' | 'price' | 'pool'> = NOTHING

  /** Adds the newest swap. */
  add({ time, side, value, holders, price, pool }: SwapPoint): void {
    const tick = tickAt(time)
    let last = this.#ticks.at(-1)
    if (last?.tick !== tick) {
      this.moveTo(tick)
      last = { tick, buys: 0n, sells: 0n, ...NOTHING }
      this.#ticks.push(last)
    }
    const sum = side === 'buy' ? 'buys' : 'sells'
    last[sum] += value ?? 0n
    this[sum] += value ?? 0n
    last.holders = holders
    last.price = price
    last.pool = pool
  }

  /** Moves on to tick `at`. The last hour is after `at - 3600`, up to and including `at`. */
  moveTo(at: number): void {
    for (; ; this.#hour++) {
      const swaps = this.#ticks[this.#hour]
      if (swaps === undefined || swaps.tick > at - HOUR_SECONDS) break
      this.buys -= swaps.buys
      this.sells -= swaps.sells
      this.before += swaps.buys + swaps.sells
      this.ago = swaps
    }
    for (; this.#start < this.#hour; this.#start++) {
      const swaps = this.#ticks[this.#start]
      if (swaps === undefined || swaps.tick > at - 2 * HOUR_SECONDS) break
      this.before -= swaps.buys + swaps.sells
    }
    // Cuts the array rarely, not at each tick that expires.
    if (this.#start > 32 && this.#start * 2 > this.#ticks.length) {
      this.#ticks = this.#ticks.slice(this.#start)
      this.#hour -= this.#start
      this.#start = 0
    }
  }

  /** The tick at which `moveTo` next changes a figure; infinite if never. */
  nextChange(): number {
    const leaves = (index: number, seconds: number) => {
      const swaps = this.#ticks[index]
      return swaps === undefined ? Number.POSITIVE_INFINITY : swaps.tick + seconds
    }
    const gone =
      this.#start < this.#hour ? leaves(this.#start, 2 * HOUR_SECONDS) : Number.POSITIVE_INFINITY
    return Math.min(leaves(this.#hour, HOUR_SECONDS), gone)
  }
}
