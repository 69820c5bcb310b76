import type { BlockId } from '../domain/block-id.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { SlotMarker, SolPrice } from '../domain/slot.ts'

/**
 * SOL/USD over time (rule J7): the history of a file, and at most one price per second from the
 * price pool. The first price of a second is kept, because a price once used is never replaced
 * (rule C1). Where the file and the pool have the same second, the file's price is used.
 */
export interface SolPrices {
  /**
   * Adds a price of the pool unless its second has one. Keeps the newest `limit` prices. `slot`:
   * the slot that it came from, if that is known.
   */
  add(price: SolPrice, slot?: number): void
  /** Removes the price that came from a slot, and returns it; null if none did. */
  withdraw(slot: number): SolPrice | null
  /**
   * Remembers the price of a block that is perhaps sealed again, over RPC, which has no pool
   * account. A block whose hash is not known is not remembered.
   */
  rememberPriceOf(block: SealedBlock, price: SolPrice): void
  /** The remembered price of a block, USD x 10^9; null for any other block. */
  rememberedPriceOf(block: SealedBlock): bigint | null
  /**
   * The newest price at or before `time` and at most `maxAgeSeconds` older; null when there is
   * none, or when a newer one may be among those that are not known.
   */
  at(time: number, maxAgeSeconds: number): SolPrice | null
  /** The pool's newest price at or before `time`, however old. */
  newestOfPool(time: number): SolPrice | null
}

/** A block that was sealed. */
interface SealedBlock {
  readonly slot: number
  readonly blockId: BlockId | null
}

/** What a list of prices starts with. */
interface SolPriceOptions {
  /** How many prices of the pool are kept. */
  readonly limit?: number
  /** Prices of the pool may be missing between these two times. By default none is. */
  readonly unknown?: { readonly after: number; readonly before: number }
}

/** Prices with a `history` in any order. Of two entries with one time, the later one is used. */
export function createSolPrices(
  history: readonly SolPrice[] = [],
  { limit = 100_000, unknown = { after: 0, before: 0 } }: SolPriceOptions = {},
): SolPrices {
  const past = [...new Map(history.map((price) => [price.time, price])).values()].sort(
    (a, b) => a.time - b.time,
  )
  let live: SolPrice[] = []
  /** Times of prices by their slots; of the newest slots. */
  const times = new Map<number, number>()
  /** Remembered prices by slot and block. */
  const remembered = new Map<string, bigint>()
  const keyOf = ({ slot, blockId }: SealedBlock) => `${slot}/${blockId}`

  return {
    add(price, slot) {
      const before = lastAtOrBefore(live, price.time)
      if (live[before]?.time === price.time) return
      live.splice(before + 1, 0, price)
      if (live.length > limit * 1.1) live = live.slice(-limit)
      if (slot === undefined) return
      times.set(slot, price.time)
      if (times.size > limit) times.delete(times.keys().next().value ?? slot)
    },
    withdraw(slot) {
      const time = times.get(slot)
      const at = time === undefined ? -1 : lastAtOrBefore(live, time)
      times.delete(slot)
      const price = live[at]
      if (price === undefined || price.time !== time) return null
      live.splice(at, 1)
      return price
    },
    rememberPriceOf(block, { usdE9 }) {
      if (block.blockId !== null) remembered.set(keyOf(block), usdE9)
    },
    rememberedPriceOf: (block) => remembered.get(keyOf(block)) ?? null,
    newestOfPool: (time) => live[lastAtOrBefore(live, time)] ?? null,
    at(time, maxAgeSeconds) {
      if (time > unknown.after && time < unknown.before) return null
      const a = live[lastAtOrBefore(live, time)]
      const b = past[lastAtOrBefore(past, time)]
      const newest = a === undefined || (b !== undefined && b.time >= a.time) ? b : a
      return newest !== undefined && time - newest.time <= maxAgeSeconds ? newest : null
    },
  }
}

/**
 * Returns the prices that came from the slots of markers themselves. `markers` are in order of
 * slots. A marker names the newest price at its block time: it is its own if it has that time and
 * no marker before it names the price.
 */
export function ownPrices(markers: readonly SlotMarker[]): ReadonlyMap<SlotMarker, SolPrice> {
  const own = new Map<SlotMarker, SolPrice>()
  const named = new Set<string>()
  for (const marker of markers) {
    const { blockTime, solPrice } = marker
    if (solPrice === null) continue
    const key = `${solPrice.time}/${solPrice.usdE9}`
    if (solPrice.time === blockTime && !named.has(key)) own.set(marker, solPrice)
    named.add(key)
  }
  return own
}

/** Tables store times as UInt32. */
const MAX_SECONDS = 2 ** 32 - 1

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
 * Parses `SOL_PRICES_FILE` (rule J2): CSV lines `unix_seconds,usd` in any order, usd above 0 with
 * at most 9 decimals. A header line and blank lines are allowed. Of two lines with one time, the
 * later one is used. Throws `bad_config` that names the first invalid line.
 */
export function parseSolPrices(text: string, file: string): SolPrice[] {
  const prices = new Map<number, SolPrice>()
  text.split('\n').forEach((raw, at) => {
    const line = raw.trim()
    if (line === '' || (at === 0 && /^[A-Za-z_"]/.test(line))) return
    const match = /^([0-9]{1,10})\s*,\s*([0-9]{1,9})(?:\.([0-9]{1,9}))?$/.exec(line)
    const usdE9 = match === null ? 0n : BigInt(`${match[2]}${(match[3] ?? '').padEnd(9, '0')}`)
    const time = Number(match?.[1])
    if (usdE9 === 0n || time > MAX_SECONDS) {
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

/** Both lists as one, in order of time. For a second in both, the price of `preferred` is used. */
export function mergeSolPrices(
  prices: readonly SolPrice[],
  preferred: readonly SolPrice[],
): SolPrice[] {
  const bySecond = new Map([...prices, ...preferred].map((price) => [price.time, price]))
  return [...bySecond.values()].sort((a, b) => a.time - b.time)
}
