import { LAMPORTS_PER_SOL, nearestNumber } from '../domain/amount.ts'
import type { PoolSnapshot } from '../domain/pool-snapshot.ts'
import { USDC, USDT, WSOL } from '../domain/quote.ts'
import type { Momentum, WatchState } from './watched-token.ts'

/** Price of a token in SOL from a swap: `lamports` for `amount` raw units, at a unix second. */
export interface SwapPrice {
  readonly time: number
  readonly lamports: bigint
  readonly amount: bigint
  /** USD x 10^9 for one SOL at that time; null if unknown. */
  readonly solUsdE9: bigint | null
}

/**
 * Returns USD x 10^9 for one SOL: the newest price at or before a time, unless it is too old; null
 * if there is none.
 */
export type SolPriceAt = (time: number) => bigint | null

/**
 * Between two trades, a market cap follows the price of SOL in steps of this length. Otherwise
 * every token would change at every tick.
 */
export const SOL_STEP_SECONDS = 600

/** The start of the step of the SOL price that contains a time. */
function stepOf(time: number): number {
  return time - (time % SOL_STEP_SECONDS)
}

/**
 * Market cap in USD at `time`, by the newest swap with a value: supply x price. Uses the SOL price
 * of the swap or, once a new step has begun, that of the newest step. Null while the supply or a
 * price is unknown.
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

/**
 * Market cap in USD at `time`, by the pool. Null also when it trades against a coin other than SOL,
 * USDC and USDT.
 */
export function mcapOfPool(
  snapshot: PoolSnapshot,
  supply: bigint | null,
  time: number,
  solPriceAt: SolPriceAt,
): number | null {
  const { quote, base } = snapshot.price
  if (supply === null || base === 0n) return null
  if (isDollar(snapshot.quoteMint)) return nearestNumber(supply * quote, base * 1_000_000n)
  if (snapshot.quoteMint !== WSOL) return null
  const sol = solPriceAt(Math.max(stepOf(time), snapshot.at))
  return sol === null ? null : nearestNumber(supply * quote * sol, base * 10n ** 18n)
}

/**
 * Liquidity in SOL: the SOL in the pool, doubled (rule G3). USDC and USDT are converted; null
 * without a SOL price, and for any other quote.
 */
export function liquidityOf(
  snapshot: PoolSnapshot,
  time: number,
  solPriceAt: SolPriceAt,
): number | null {
  const { quoteReserve, quoteMint } = snapshot
  if (quoteMint === WSOL) return nearestNumber(2n * quoteReserve, LAMPORTS_PER_SOL)
  if (!isDollar(quoteMint)) return null
  const sol = solPriceAt(Math.max(stepOf(time), snapshot.at))
  return sol === null || sol === 0n ? null : nearestNumber(2n * quoteReserve * 1000n, sol)
}

/** Whether a snapshot has a usable price. */
export function isPriced({ pool, quoteMint, price }: PoolSnapshot): boolean {
  return pool !== '' && price.base > 0n && (quoteMint === WSOL || isDollar(quoteMint))
}

function isDollar(mint: string): boolean {
  return mint === USDC || mint === USDT
}

/** Conviction from 0 to 100 (rule G2). */
export function convictionOf(holders: number, pctHeld: number, buys: bigint, sells: bigint) {
  const volume = buys + sells
  const bought = volume === 0n ? 0 : nearestNumber(buys, volume)
  return 40 * Math.min(1, holders / 10) + 30 * pctHeld + 30 * bought
}

/** State by the SOL flow of the last hour, after the first ten minutes on the list (rule G4). */
export function watchStateOf(onListSeconds: number, buys: bigint, sells: bigint): WatchState {
  if (onListSeconds < DISCOVERED_SECONDS) return 'discovered'
  if (buys * 10n > sells * 12n) return 'accumulating'
  if (sells * 10n > buys * 12n) return 'distributing'
  return 'holding'
}

/** Compares a figure with one hour ago; `before` is null without an hour of history (rule G3). */
export function momentumOf(value: number | null, before: number | null): Momentum {
  const changePct = value === null || before === null ? 0 : changeOf(value, before)
  return { value, changePct, trend: changePct > 5 ? 'up' : changePct < -5 ? 'down' : 'flat' }
}

function changeOf(value: number, before: number): number {
  if (before === 0) return value === 0 ? 0 : 100
  return ((value - before) / before) * 100
}

/** The period of volumes and of `momentum`. */
export const HOUR_SECONDS = 3600
/** The period after entry in which a token is `discovered` (rule G4). */
export const DISCOVERED_SECONDS = 600
/** A token leaves after this time without a trade (rule G1). */
export const EVICT_SECONDS = 86_400
/** A token is near eviction after 90% of that time without a trade. */
export const NEAR_EVICT_SECONDS = 77_760
/** Number of holders at which a token enters the list (rule G1). */
export const HOLDERS_TO_ENTER = 2
