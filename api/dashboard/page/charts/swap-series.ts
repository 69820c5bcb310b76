import { QUOTE_COINS } from '../data/coins.ts'

/** Of a swap as `GET /tokens/{mint}/swaps` gives it, what charts are made of. */
export interface ChartedSwap {
  readonly block_time: number
  readonly wallet: string
  readonly side: 'buy' | 'sell'
  readonly base_amount: string
  readonly base_decimals: number
  readonly quote_mint: string
  readonly quote_amount: string
  readonly quote_mismatch: boolean
}

/** What a wallet had of a token after one of its swaps. */
export interface PositionStep {
  readonly time: number
  readonly side: 'buy' | 'sell'
  /** Raw units bought less sold, from the first swap on; below zero where tokens came in another way. */
  readonly held: bigint
  /** Profit realised so far, in lamports, oldest lots first. */
  readonly realised: bigint
}

/**
 * How a wallet's position grew and shrank, oldest step first. `swaps` newest first, as the API lists them, those of other wallets are passed over. Profit is first in, first out
 * (the rule of the metrics), of swaps against SOL alone: the price of SOL at the time of a swap against USDC or USDT is not in it, so what such lots and sells realise is left out and
 * counted in `unvalued`, as are sells of more than was bought.
 */
export function positionHistory(
  swaps: readonly ChartedSwap[],
  wallet: string,
): { readonly steps: readonly PositionStep[]; readonly unvalued: number } {
  const lots: { left: bigint; readonly amount: bigint; readonly cost: bigint | null }[] = []
  let held = 0n
  let realised = 0n
  let unvalued = 0
  const steps = swaps
    .filter((swap) => swap.wallet === wallet)
    .reverse()
    .map((swap): PositionStep => {
      const amount = BigInt(swap.base_amount)
      const value = lamports(swap)
      if (swap.side === 'buy') {
        held += amount
        lots.push({ left: amount, amount, cost: value })
        if (value === null) unvalued++
      } else {
        held -= amount
        let rest = amount
        let isWhole = value !== null
        while (rest > 0n) {
          const lot = lots[0]
          if (lot === undefined) break
          const part = lot.left < rest ? lot.left : rest
          if (value !== null && lot.cost !== null)
            realised += (value * part) / amount - (lot.cost * part) / lot.amount
          else isWhole = false
          rest -= part
          lot.left -= part
          if (lot.left === 0n) lots.shift()
        }
        if (!isWhole || rest > 0n) unvalued++
      }
      return { time: swap.block_time, side: swap.side, held, realised }
    })
  return { steps, unvalued }
}

/** The price of one token in SOL that each swap against SOL implies, oldest first. */
export function impliedPrices(
  swaps: readonly ChartedSwap[],
): readonly { readonly time: number; readonly price: number }[] {
  return swaps
    .flatMap((swap) => {
      const value = lamports(swap)
      if (value === null || value === 0n || swap.base_amount === '0') return []
      const price = (Number(value) / Number(swap.base_amount)) * 10 ** (swap.base_decimals - 9)
      return [{ time: swap.block_time, price }]
    })
    .reverse()
}

/** What was bought and sold in one stretch of time, lamports. */
export interface VolumeBucket {
  /** Unix seconds at which it starts. */
  readonly time: number
  readonly bought: bigint
  readonly sold: bigint
}

/** Buys and sells against SOL by stretches of equal length, at most 60 of them, oldest first, empty ones among them. */
export function volumeBuckets(swaps: readonly ChartedSwap[]): {
  readonly seconds: number
  readonly buckets: readonly VolumeBucket[]
} {
  const times = swaps.map((swap) => swap.block_time)
  const first = Math.min(...times)
  const last = Math.max(...times)
  if (times.length === 0) return { seconds: 60, buckets: [] }
  const countOf = (size: number) => Math.floor(last / size) - Math.floor(first / size) + 1
  let seconds = STRETCHES.find((size) => countOf(size) <= 60) ?? 86_400
  while (countOf(seconds) > 60) seconds *= 2
  const start = Math.floor(first / seconds)
  const buckets = Array.from({ length: countOf(seconds) }, (_, index) => ({
    time: (start + index) * seconds,
    bought: 0n,
    sold: 0n,
  }))
  for (const swap of swaps) {
    const bucket = buckets[Math.floor(swap.block_time / seconds) - start]
    const value = lamports(swap)
    if (bucket === undefined || value === null) continue
    if (swap.side === 'buy') bucket.bought += value
    else bucket.sold += value
  }
  return { seconds, buckets }
}

const STRETCHES = [60, 300, 900, 1800, 3600, 14_400, 43_200, 86_400]

/** The value of a swap against SOL; null of any other. */
function lamports(swap: ChartedSwap): bigint | null {
  return QUOTE_COINS[swap.quote_mint]?.name === 'SOL' && !swap.quote_mismatch
    ? BigInt(swap.quote_amount)
    : null
}

/** Raw units as the number a chart draws; what is read as text is exact. */
export function drawn(raw: bigint, decimals: number): number {
  return Number(raw) / 10 ** decimals
}

/** What a position that is still held has realised, in SOL, at the average price of its buys: sold less the part of the cost that left with it. */
export function realisedByAverage(position: {
  readonly sol_bought: number
  readonly sol_sold: number
  readonly tokens_acquired: number
  readonly tokens_sold: number
}): number {
  const { sol_bought, sol_sold, tokens_acquired, tokens_sold } = position
  const left = tokens_acquired === 0 ? 0 : Math.min(1, tokens_sold / tokens_acquired)
  return sol_sold - sol_bought * left
}
