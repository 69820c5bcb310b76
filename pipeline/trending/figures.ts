import { LAMPORTS_PER_SOL } from '../domain/amount.ts'
import { divideFractions, type Fraction, fraction, ZERO } from '../domain/fraction.ts'
import type { PoolSnapshot } from '../domain/pool-snapshot.ts'
import { isDollar, WSOL } from '../domain/quote.ts'
import type { Momentum, Trend, WatchState } from './watched-token.ts'

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
): Fraction | null {
  if (price === null || supply === null) return null
  const step = stepOf(time)
  const sol = step > price.time ? solPriceAt(step) : (price.solUsdE9 ?? solPriceAt(price.time))
  if (sol === null) return null
  return fraction(supply * price.lamports * sol, price.amount * E18)
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
): Fraction | null {
  const { quote, base } = snapshot.price
  if (supply === null || base === 0n) return null
  if (isDollar(snapshot.quoteMint)) return fraction(supply * quote, base * 1_000_000n)
  if (snapshot.quoteMint !== WSOL) return null
  const sol = solPriceAt(Math.max(stepOf(time), snapshot.at))
  return sol === null ? null : fraction(supply * quote * sol, base * E18)
}

/**
 * Liquidity in SOL: the SOL in the pool, doubled (rule G3). USDC and USDT are converted; null
 * without a SOL price, and for any other quote.
 */
export function liquidityOf(
  snapshot: PoolSnapshot,
  time: number,
  solPriceAt: SolPriceAt,
): Fraction | null {
  const { quoteReserve, quoteMint } = snapshot
  if (quoteMint === WSOL) return fraction(2n * quoteReserve, LAMPORTS_PER_SOL)
  if (!isDollar(quoteMint)) return null
  const sol = solPriceAt(Math.max(stepOf(time), snapshot.at))
  return sol === null || sol === 0n ? null : fraction(2n * quoteReserve * 1000n, sol)
}

/** Whether a snapshot has a usable price. */
export function isPriced({ pool, quoteMint, price }: PoolSnapshot): boolean {
  return pool !== '' && price.base > 0n && (quoteMint === WSOL || isDollar(quoteMint))
}

/** A market cap as a multiple of another; null if either is unknown, or the other is 0. */
export function multipleOf(mcap: Fraction | null, of: Fraction | null): Fraction | null {
  return mcap === null || of === null || of.numerator === 0n ? null : divideFractions(mcap, of)
}

/**
 * Conviction from 0 to 100 (rule G2). `held` and `bought` are raw units of the holders, `buys` and
 * `sells` lamports of the last hour.
 */
export function convictionOf(
  holders: number,
  held: bigint,
  bought: bigint,
  buys: bigint,
  sells: bigint,
): Fraction {
  const whole = bought === 0n ? 1n : bought
  const volume = buys + sells === 0n ? 1n : buys + sells
  const ofHolders = 4n * BigInt(Math.min(10, holders))
  return fraction(
    ofHolders * whole * volume + 30n * held * volume + 30n * buys * whole,
    whole * volume,
  )
}

/** State by the SOL flow of the last hour, after the first ten minutes on the list (rule G4). */
export function watchStateOf(onListSeconds: number, buys: bigint, sells: bigint): WatchState {
  if (onListSeconds < DISCOVERED_SECONDS) return 'discovered'
  if (buys * 10n > sells * 12n) return 'accumulating'
  if (sells * 10n > buys * 12n) return 'distributing'
  return 'holding'
}

/**
 * Compares a figure with one hour ago (rules G3, G6). `before` is undefined without an hour of
 * history, null if it is unknown. `ifUnknown` is the change while either figure is unknown.
 */
export function momentumOf(
  value: Fraction | null,
  before: Fraction | null | undefined,
  ifUnknown: Fraction | null = ZERO,
): Momentum<Fraction> {
  if (value === null || before === null) return { value, changePct: ifUnknown, trend: 'flat' }
  if (before === undefined) return { value, changePct: ZERO, trend: 'flat' }
  const now = value.numerator * before.denominator
  const then = before.numerator * value.denominator
  return { value, changePct: changeOf(now, then), trend: trendOf(now, then) }
}

/** The change in percent between two figures over one denominator. */
function changeOf(now: bigint, then: bigint): Fraction {
  if (then === 0n) return now === 0n ? ZERO : fraction(100n)
  return fraction(100n * (now - then), then)
}

/** The trend between two figures over one denominator: beyond 5% it is not `flat`. */
function trendOf(now: bigint, then: bigint): Trend {
  if (now * 100n > then * 105n) return 'up'
  return now * 100n < then * 95n ? 'down' : 'flat'
}
/** Lamports of one SOL times the unit of SOL prices: lamports x USD x 10^9 / 10^18 is USD. */
export const E18 = 10n ** 18n
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
