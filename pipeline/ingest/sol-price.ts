import { ServiceError } from '../domain/service-error.ts'
import type { SolPrice } from '../domain/slot.ts'

/**
 * SOL/USD over time: the history of a file, and one price a second as the live pool gives them (rule J7). Of the pool it is the second's
 * first that was added: a price once used is never replaced (rule C1). Where both know a second, the file's price holds.
 */
export interface SolPrices {
  /** Adds a price of the pool unless its second has one; keeps the newest `limit`. */
  add(price: SolPrice): void
  /** The newest price at or before `time` and at most `maxAgeSeconds` older; null when there is none. */
  at(time: number, maxAgeSeconds: number): SolPrice | null
  /** The pool's newest price at or before `time`, however old. */
  newestOfPool(time: number): SolPrice | null
}

/** Prices that begin with `history`, in any order; of two with one time the later in the list wins. */
export function createSolPrices(history: readonly SolPrice[] = [], limit = 100_000): SolPrices {
  const past = [...new Map(history.map((price) => [price.time, price])).values()].sort(
    (a, b) => a.time - b.time,
  )
  let live: SolPrice[] = []

  return {
    add(price) {
      const before = lastAtOrBefore(live, price.time)
      if (live[before]?.time === price.time) return
      live.splice(before + 1, 0, price)
      if (live.length > limit * 1.1) live = live.slice(-limit)
    },
    newestOfPool: (time) => live[lastAtOrBefore(live, time)] ?? null,
    at(time, maxAgeSeconds) {
      const a = live[lastAtOrBefore(live, time)]
      const b = past[lastAtOrBefore(past, time)]
      const newest = a === undefined || (b !== undefined && b.time >= a.time) ? b : a
      return newest !== undefined && time - newest.time <= maxAgeSeconds ? newest : null
    },
  }
}

/** Tables hold times in 32 bits. */
const MOST_SECONDS = 2 ** 32 - 1

function lastAtOrBefore(prices: readonly SolPrice[], time: number): number {
  let low = 0
  let high = prices.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((prices[middle]?.time ?? 0) <= time) low = middle + 1
    else high = middle
  }
  return low - 1
}

/**
 * Reads `SOL_PRICES_FILE`: CSV `unix_seconds,usd`, usd above 0 with at most 9 decimals, an optional header line, blank lines, any order, a later
 * line of the same second wins (rule J2). Throws `bad_config` that names the first bad line.
 */
export function parseSolPrices(text: string, file: string): SolPrice[] {
  const prices = new Map<number, SolPrice>()
  text.split('\n').forEach((raw, at) => {
    const line = raw.trim()
    if (line === '' || (at === 0 && /^[A-Za-z_"]/.test(line))) return
    const match = /^([0-9]{1,10})\s*,\s*([0-9]{1,9})(?:\.([0-9]{1,9}))?$/.exec(line)
    const usdE9 = match === null ? 0n : BigInt(`${match[2]}${(match[3] ?? '').padEnd(9, '0')}`)
    const time = Number(match?.[1])
    if (usdE9 === 0n || time > MOST_SECONDS) {
      throw new ServiceError(
        'bad_config',
        `SOL_PRICES_FILE: line ${at + 1} of ${file} is not "unix_seconds,usd" with usd above 0 and at most 9 decimals, for example "1700000000,61.25"`,
        { context: { file, line: at + 1 } },
      )
    }
    prices.set(time, { time, usdE9 })
  })
  return [...prices.values()].sort((a, b) => a.time - b.time)
}

/** Both lists of prices as one, in order of time; where both know a second, that of `preferred` holds. */
export function mergeSolPrices(
  prices: readonly SolPrice[],
  preferred: readonly SolPrice[],
): SolPrice[] {
  const bySecond = new Map([...prices, ...preferred].map((price) => [price.time, price]))
  return [...bySecond.values()].sort((a, b) => a.time - b.time)
}
