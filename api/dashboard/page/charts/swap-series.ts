import { QUOTE_COINS } from '../data/quote-coins.ts'

/** The members of a swap of `GET /tokens/{mint}/swaps` that charts use. */
export interface ChartedSwap {
  readonly block_time: number
  readonly wallet: string
  readonly side: 'buy' | 'sell'
  readonly base_amount: string
  readonly base_decimals: number
  readonly quote_mint: string
  readonly quote_amount: string
  readonly quote_mismatch: boolean
  /** Value in SOL; null while the swap has none. */
  readonly sol_value: number | null
}

/** A wallet's position in a token after one of its swaps. */
export interface PositionPoint {
  readonly time: number
  readonly side: 'buy' | 'sell'
  /** Raw units bought less raw units sold. Negative if tokens were received by transfer. */
  readonly held: bigint
  /** Realised profit so far in lamports, first in, first out. */
  readonly realised: bigint
}

/**
 * Returns a wallet's position after each of its swaps, oldest first. `swaps` are newest first, as
 * the API lists them; swaps of other wallets are ignored.
 * Profit is first in, first out as in the metrics. Swaps that are left out of it, at least in part,
 * are counted: in `unvalued` swaps without a value in SOL and sells of such lots, in `unmatched`
 * sells beyond what the wallet bought.
 */
export function positionHistory(
  swaps: readonly ChartedSwap[],
  wallet: string,
): {
  readonly points: readonly PositionPoint[]
  readonly unvalued: number
  readonly unmatched: number
} {
  const lots: Lot[] = []
  let held = 0n
  let realised = 0n
  let unvalued = 0
  let unmatched = 0
  const points = swaps
    .filter((swap) => swap.wallet === wallet)
    .reverse()
    .map((swap): PositionPoint => {
      const amount = BigInt(swap.base_amount)
      const value = valueInLamports(swap)
      if (swap.side === 'buy') {
        held += amount
        lots.push({ left: amount, amount, cost: value })
        if (value === null) unvalued++
      } else {
        held -= amount
        const sale = sellOldestLots(lots, amount, value)
        realised += sale.profit
        if (!sale.isFullyValued) unvalued++
        if (!sale.isFullyMatched) unmatched++
      }
      return { time: swap.block_time, side: swap.side, held, realised }
    })
  return { points, unvalued, unmatched }
}

/** Tokens bought by one swap. `cost` is in lamports, null without a value in SOL. */
interface Lot {
  /** Raw units not sold yet. */
  left: bigint
  readonly amount: bigint
  readonly cost: bigint | null
}

/** Removes sold tokens from the oldest lots, and returns the profit in lamports. */
function sellOldestLots(
  lots: Lot[],
  amount: bigint,
  value: bigint | null,
): {
  readonly profit: bigint
  readonly isFullyValued: boolean
  readonly isFullyMatched: boolean
} {
  let profit = 0n
  let rest = amount
  let isFullyValued = value !== null
  for (let lot = lots[0]; rest > 0n && lot !== undefined; lot = lots[0]) {
    const part = min(lot.left, rest)
    if (value !== null && lot.cost !== null)
      profit += (value * part) / amount - (lot.cost * part) / lot.amount
    else isFullyValued = false
    rest -= part
    lot.left -= part
    if (lot.left === 0n) lots.shift()
  }
  return { profit, isFullyValued, isFullyMatched: rest === 0n }
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** The price of one token in a swap. */
export interface PricePoint {
  readonly time: number
  readonly wallet: string
  readonly side: 'buy' | 'sell'
  /** SOL for one whole token. */
  readonly price: number
}

/** Returns the price of one token in SOL for each swap with a value in SOL, oldest first. */
export function impliedPrices(swaps: readonly ChartedSwap[]): readonly PricePoint[] {
  return swaps
    .flatMap((swap) => {
      const value = valueInLamports(swap)
      if (value === null || value === 0n || swap.base_amount === '0') return []
      const price = (Number(value) / Number(swap.base_amount)) * 10 ** (swap.base_decimals - 9)
      return [{ time: swap.block_time, wallet: swap.wallet, side: swap.side, price }]
    })
    .reverse()
}

/** Buys and sells of one interval, in lamports. */
export interface VolumeBucket {
  /** Start of the interval, unix seconds. */
  readonly time: number
  readonly bought: bigint
  readonly sold: bigint
}

/**
 * Sums the values in SOL of buys and sells by intervals of `seconds`, oldest first, at most 60 of
 * them. Intervals without swaps are included.
 */
export function volumeBuckets(swaps: readonly ChartedSwap[]): {
  readonly seconds: number
  readonly buckets: readonly VolumeBucket[]
} {
  const times = swaps.map((swap) => swap.block_time)
  const first = Math.min(...times)
  const last = Math.max(...times)
  if (times.length === 0) return { seconds: 60, buckets: [] }
  const countOf = (size: number) => Math.floor(last / size) - Math.floor(first / size) + 1
  let seconds = INTERVALS.find((size) => countOf(size) <= 60) ?? 86_400
  while (countOf(seconds) > 60) seconds *= 2
  const start = Math.floor(first / seconds)
  const buckets = Array.from({ length: countOf(seconds) }, (_, index) => ({
    time: (start + index) * seconds,
    bought: 0n,
    sold: 0n,
  }))
  for (const swap of swaps) {
    const bucket = buckets[Math.floor(swap.block_time / seconds) - start]
    const value = valueInLamports(swap)
    if (bucket === undefined || value === null) continue
    if (swap.side === 'buy') bucket.bought += value
    else bucket.sold += value
  }
  return { seconds, buckets }
}

const INTERVALS = [60, 300, 900, 1800, 3600, 14_400, 43_200, 86_400]

/** Returns the value of a swap in lamports, exact against SOL; null while it has none. */
function valueInLamports(swap: ChartedSwap): bigint | null {
  if (swap.quote_mismatch) return null
  if (QUOTE_COINS[swap.quote_mint]?.name === 'SOL') return BigInt(swap.quote_amount)
  return swap.sol_value === null ? null : BigInt(Math.round(swap.sol_value * 1e9))
}

/** Converts raw units to a floating-point number for drawing. Texts use the exact amount. */
export function toChartNumber(raw: bigint, decimals: number): number {
  return Number(raw) / 10 ** decimals
}
