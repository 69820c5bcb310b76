import { LAMPORTS_PER_SOL, nearestNumber } from '../domain/amount.ts'
import { USDC, USDT, WSOL } from '../domain/quote.ts'
import type { Momentum, WatchState } from './watched-token.ts'

/*
 * The rules of the watchlist that are arithmetic alone (rules G2 to G4), for the engine and for whoever checks it.
 */

/** A price of a token in SOL: `lamports` for `amount` raw units, with the price of SOL that went with it, and the time at which it was so. */
export interface SwapPrice {
  readonly time: number
  readonly lamports: bigint
  readonly amount: bigint
  /** USD x 10^9 for one SOL; null when none was known. */
  readonly solUsdE9: bigint | null
}

/** What the pool of a token held from tick `at` on (table `pool_states`); `pool` '' when it was not known any more. */
export interface PoolPicture {
  readonly at: number
  readonly mint: string
  readonly pool: string
  readonly quoteMint: string
  /** Raw units of `quoteMint` in the pool. */
  readonly quoteReserve: bigint
  /** One raw unit of the token costs quote / base raw units of `quoteMint`. */
  readonly price: { readonly quote: bigint; readonly base: bigint }
}

/** USD x 10^9 for one SOL: the newest price at or before a time, unless it is too old; null when there is none. */
export type SolPriceAt = (time: number) => bigint | null

/** Between two of its trades a market cap follows the price of SOL in steps of so many seconds: else every token would change at every tick. */
export const SOL_STEP_SECONDS = 600

/** The newest full step of the price of SOL. */
export function stepOf(time: number): number {
  return time - (time % SOL_STEP_SECONDS)
}

/**
 * Supply x price in USD at `time`, by the newest swap that has a value: at the price of SOL that the swap has, or, once a full step lies between, at that of the
 * newest step. Null while the supply or a price is not known.
 */
export function mcapOfSwap(
  price: SwapPrice | null,
  supply: bigint | null,
  time: number,
  solPriceAt: SolPriceAt,
): number | null {
  if (price === null || supply === null) return null
  const step = stepOf(time)
  const sol = step > price.time ? solPriceAt(step) : (price.solUsdE9 ?? solPriceAt(price.time))
  if (sol === null) return null
  return nearestNumber(supply * price.lamports * sol, price.amount * 10n ** 18n)
}

/** Likewise by the pool; null also when it trades against anything but SOL, USDC and USDT. */
export function mcapOfPool(
  picture: PoolPicture,
  supply: bigint | null,
  time: number,
  solPriceAt: SolPriceAt,
): number | null {
  const { quote, base } = picture.price
  if (supply === null || base === 0n) return null
  if (isDollar(picture.quoteMint)) return nearestNumber(supply * quote, base * 1_000_000n)
  if (picture.quoteMint !== WSOL) return null
  const sol = solPriceAt(Math.max(stepOf(time), picture.at))
  return sol === null ? null : nearestNumber(supply * quote * sol, base * 10n ** 18n)
}

/** SOL in the pool, doubled (rule G3); null without a price of SOL for dollars, and for any other quote. */
export function liquidityOf(
  picture: PoolPicture,
  time: number,
  solPriceAt: SolPriceAt,
): number | null {
  const { quoteReserve, quoteMint } = picture
  if (quoteMint === WSOL) return nearestNumber(2n * quoteReserve, LAMPORTS_PER_SOL)
  if (!isDollar(quoteMint)) return null
  const sol = solPriceAt(Math.max(stepOf(time), picture.at))
  return sol === null || sol === 0n ? null : nearestNumber(2n * quoteReserve * 1000n, sol)
}

/** Whether the picture says a price that can be used. */
export function isPriced({ pool, quoteMint, price }: PoolPicture): boolean {
  return pool !== '' && price.base > 0n && (quoteMint === WSOL || isDollar(quoteMint))
}

function isDollar(mint: string): boolean {
  return mint === USDC || mint === USDT
}

/** 0 to 100 (rule G2). */
export function convictionOf(holders: number, pctHeld: number, buys: bigint, sells: bigint) {
  const volume = buys + sells
  const bought = volume === 0n ? 0 : nearestNumber(buys, volume)
  return 40 * Math.min(1, holders / 10) + 30 * pctHeld + 30 * bought
}

/** By the SOL flow of the last hour, after the first ten minutes on the list (rule G4). */
export function stateOf(onListSeconds: number, buys: bigint, sells: bigint): WatchState {
  if (onListSeconds < DISCOVERED_SECONDS) return 'discovered'
  if (buys * 10n > sells * 12n) return 'accumulating'
  if (sells * 10n > buys * 12n) return 'distributing'
  return 'holding'
}

/** What a figure is now against what it was an hour ago; `before` null without an hour of history (rule G3). */
export function momentumOf(value: number | null, before: number | null): Momentum {
  const changePct = value === null || before === null ? 0 : changeOf(value, before)
  return { value, changePct, trend: changePct > 5 ? 'up' : changePct < -5 ? 'down' : 'flat' }
}

function changeOf(value: number, before: number): number {
  if (before === 0) return value === 0 ? 0 : 100
  return ((value - before) / before) * 100
}

export const HOUR_SECONDS = 3600
export const DISCOVERED_SECONDS = 600
/** Without a trade for so long a token leaves. */
export const EVICT_SECONDS = 86_400
/** Within a tenth of that time it is near. */
export const NEAR_EVICT_SECONDS = 77_760
export const HOLDERS_TO_ENTER = 2
