import { HOUR_SECONDS, type SwapPrice } from './figures.ts'

/** A token after one of its swaps. */
export interface SwapPoint {
  readonly time: number
  readonly side: 'buy' | 'sell'
  /** Lamports; null without a value. */
  readonly value: bigint | null
  /** Wallets that hold after it. */
  readonly holders: number
  /** Newest price, and newest pool that is known ('' before), after it. */
  readonly price: SwapPrice | null
  readonly pool: string
}

/** Before the first swap. */
const NOTHING = { holders: 0, price: null, pool: '' } as const

/** The swaps of a token within the last two hours, and how it was one hour ago. Points come in the order of their times, and time only moves on. */
export class HourWindow {
  #points: SwapPoint[] = []
  /** Places of the first point of the last two hours, and of the last one. */
  #start = 0
  #hour = 0
  /** Values of the last hour, and of the hour before it. */
  buys = 0n
  sells = 0n
  before = 0n
  /** As of one hour ago. */
  ago: Pick<SwapPoint, 'holders' | 'price' | 'pool'> = NOTHING

  add(point: SwapPoint): void {
    this.#points.push(point)
    const value = point.value ?? 0n
    if (point.side === 'buy') this.buys += value
    else this.sells += value
  }

  /** Moves on to `at`: the last hour is what is later than an hour before it, up to and with it. */
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
    // The array is not cut at each point that leaves it.
    if (this.#start > 32 && this.#start * 2 > this.#points.length) {
      this.#points = this.#points.slice(this.#start)
      this.#hour -= this.#start
      this.#start = 0
    }
  }

  /** When `moveTo` changes something next; infinite when it never does. */
  nextChange(): number {
    const leaves = (place: number, seconds: number) => {
      const point = this.#points[place]
      return point === undefined ? Number.POSITIVE_INFINITY : point.time + seconds
    }
    const gone =
      this.#start < this.#hour ? leaves(this.#start, 2 * HOUR_SECONDS) : Number.POSITIVE_INFINITY
    return Math.min(leaves(this.#hour, HOUR_SECONDS), gone)
  }
}
