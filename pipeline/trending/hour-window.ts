import { HOUR_SECONDS, type SwapPrice } from './figures.ts'

/** Figures of a token after one of its swaps. */
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

/** Figures before the first swap. */
const NOTHING = { holders: 0, price: null, pool: '' } as const

/**
 * Swaps of a token within the last two hours, and its figures one hour ago. Points are added in the
 * order of their times, and time only moves forward.
 */
export class HourWindow {
  #points: SwapPoint[] = []
  /**
   * Indexes of the first point within the last two hours, and of the first within the last hour.
   */
  #start = 0
  #hour = 0
  /** Values of buys and sells in the last hour, and of all swaps in the hour before. */
  buys = 0n
  sells = 0n
  before = 0n
  /** Figures of one hour ago. */
  ago: Pick<SwapPoint, 'holders' | 'price' | 'pool'> = NOTHING

  /** Adds the newest swap. */
  add(point: SwapPoint): void {
    this.#points.push(point)
    const value = point.value ?? 0n
    if (point.side === 'buy') this.buys += value
    else this.sells += value
  }

  /** Moves on to time `at`. The last hour is after `at - 3600`, up to and including `at`. */
  moveTo(at: number): void {
    for (; ; this.#hour++) {
      const point = this.#points[this.#hour]
      if (point === undefined || point.time > at - HOUR_SECONDS) break
      const value = point.value ?? 0n
      if (point.side === 'buy') this.buys -= value
      else this.sells -= value
      this.before += value
      this.ago = point
    }
    for (; this.#start < this.#hour; this.#start++) {
      const point = this.#points[this.#start]
      if (point === undefined || point.time > at - 2 * HOUR_SECONDS) break
      this.before -= point.value ?? 0n
    }
    // Cuts the array rarely, not at each point that expires.
    if (this.#start > 32 && this.#start * 2 > this.#points.length) {
      this.#points = this.#points.slice(this.#start)
      this.#hour -= this.#start
      this.#start = 0
    }
  }

  /** The time at which `moveTo` next changes a figure; infinite if never. */
  nextChange(): number {
    const leaves = (index: number, seconds: number) => {
      const point = this.#points[index]
      return point === undefined ? Number.POSITIVE_INFINITY : point.time + seconds
    }
    const gone =
      this.#start < this.#hour ? leaves(this.#start, 2 * HOUR_SECONDS) : Number.POSITIVE_INFINITY
    return Math.min(leaves(this.#hour, HOUR_SECONDS), gone)
  }
}
