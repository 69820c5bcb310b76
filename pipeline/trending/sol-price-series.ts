import type { SolPrice } from '../domain/slot.ts'
import type { SolPriceAt } from './figures.ts'

/**
 * SOL/USD of the last hours. Prices are added in the order of their times; the last one of a second
 * counts.
 */
export class SolPriceSeries {
  readonly #maxAgeSeconds: number
  #times: number[] = []
  #prices: bigint[] = []

  constructor(maxAgeSeconds: number) {
    this.#maxAgeSeconds = maxAgeSeconds
  }

  /** Adds a price. Throws when it is older than the newest one. */
  add({ time, usdE9 }: SolPrice): void {
    const last = this.#times.at(-1) ?? -1
    if (time < last) throw new Error('prices come in the order of their times')
    if (time === last) this.#prices[this.#prices.length - 1] = usdE9
    else {
      this.#times.push(time)
      this.#prices.push(usdE9)
    }
  }

  /** Drops prices that no query from `time` on needs. */
  forgetBefore(time: number): void {
    const keepFrom = this.#indexAt(time - this.#maxAgeSeconds)
    if (keepFrom < 1000) return
    this.#times = this.#times.slice(keepFrom)
    this.#prices = this.#prices.slice(keepFrom)
  }

  /**
   * The newest price at or before a time, at most `SOL_PRICE_MAX_AGE_SECONDS` older (rule C1); null
   * if there is none.
   */
  readonly at: SolPriceAt = (time) => {
    const index = this.#indexAt(time + 1) - 1
    const known = this.#times[index]
    if (known === undefined || time - known > this.#maxAgeSeconds) return null
    return this.#prices[index] ?? null
  }

  /** The first index whose time is not before `time`. */
  #indexAt(time: number): number {
    let low = 0
    let high = this.#times.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#times[middle] ?? 0) < time) low = middle + 1
      else high = middle
    }
    return low
  }
}
