import type { Fraction } from '../domain/fraction.ts'

/** State of a listed token (rule G4). */
export type WatchState = 'discovered' | 'accumulating' | 'distributing' | 'holding'

/** A figure, compared with one hour before (rules G3, G6). */
export interface Momentum<N = number> {
  /** Market cap in USD, number of holders, or volume and liquidity in SOL; null while unknown. */
  readonly value: N | null
  /**
   * Percent since then: 0 without an hour of history, 100 from zero to more. While the figure of
   * now or of then is unknown, it is null for market caps, else 0.
   */
  readonly changePct: N | null
  /** `up` above +5%, `down` below -5%, else `flat`. */
  readonly trend: Trend
}

/** Direction of a momentum. */
export type Trend = 'up' | 'down' | 'flat'

/** The figures that have a momentum. */
export type MomentumOf = 'mcap' | 'holders' | 'volume1h' | 'liquidity'

/**
 * A token of the watchlist as of a tick, a block time divisible by 10 (rules G1 to G4). It follows
 * from the stored rows of the time up to the tick; with `PRIVACY_SALT`, from the swaps in their
 * served form (rule I2). SOL figures are lamports, times unix seconds, market caps USD. `N` is the
 * type of derived figures.
 */
interface TokenFigures<N> {
  readonly at: number
  readonly mint: string
  /** Empty until known. */
  readonly symbol: string
  readonly name: string
  /** First swap of a tracked wallet. */
  readonly firstTradeAt: number
  /** First buy of the second wallet that ever bought. */
  readonly discoveredAt: number
  /**
   * The tick at which the token entered the list. `(mint, enteredAt)` identifies one listing.
   */
  readonly enteredAt: number
  /**
   * First trade of the holder who traded first, like `holding_time` of holdings; null when nobody
   * holds.
   */
  readonly oldestHoldAt: number | null
  readonly lastTradeAt: number
  /** Number of wallets that hold by their swaps (rule C14), and their alias numbers, ascending. */
  readonly walletsHolding: number
  readonly wallets: readonly number[]
  /** 0 to 100. */
  readonly conviction: N
  /** Cost of the holders' open lots. */
  readonly heldLamports: bigint
  /** Held / bought, both summed over the holders: 0 to 1; 0 when nobody holds. */
  readonly pctHeld: N
  /**
   * Mean entry market cap of the holders whose entry is known, weighted by SOL spent; null if none
   * is known or nothing was spent.
   */
  readonly avgEntryMcap: N | null
  readonly currentMcap: N | null
  /** `currentMcap` / `avgEntryMcap`; null while either is. */
  readonly multiple: N | null
  /** Lowest and highest known entry market cap of a holder. */
  readonly bandMin: N | null
  readonly bandMax: N | null
  /** Values of buys and of sells in the last hour. */
  readonly buyLamports: bigint
  readonly sellLamports: bigint
  readonly momentum: Readonly<Record<MomentumOf, Momentum<N>>>
  readonly state: WatchState
  /**
   * Whether only one wallet holds the token, or 90% of 24 hours have passed since the last trade.
   */
  readonly nearEvict: boolean
}

/** A token with exact figures as of tick `at`. Thresholds are compared with these (rule G6). */
export type ExactToken = TokenFigures<Fraction>

/**
 * A token as it is stored and served: each derived figure is the double nearest to the exact one.
 * `at` is the tick since which nothing else of it changed.
 */
export interface WatchedToken extends TokenFigures<number> {
  /** `currentMcap` as the text of an exact fraction; '' if unknown. */
  readonly exactMcap: string
}

/** Kinds of changes of a token at a tick. */
export type WatchEvent = 'entered' | 'changed' | 'left'

/** A change of one token at a tick: a row of table `watchlist`. */
export interface WatchlistChange {
  readonly event: WatchEvent
  /** The token as of the tick. If it left the list, its figures when it left. */
  readonly token: WatchedToken
  /** The causes of each transition, in words for people; empty when only figures changed. */
  readonly reasons: readonly string[]
}

/** One listing of a token: from when it enters the list until it leaves. */
export interface Listing {
  readonly mint: string
  /** `enteredAt` of the token. */
  readonly entry: number
}

/** The list as of one tick, as strategies see it. Valid until the next tick is computed. */
export interface WatchlistTick {
  /** Unix seconds, divisible by 10. */
  readonly at: number
  /**
   * Every listed token, in no particular order, as of the tick at which it was last computed. Ages
   * are `at` of this tick less the times.
   */
  readonly listed: readonly ExactToken[]
  /** Listings that ended at this tick. */
  readonly left: readonly Listing[]
  /**
   * Market cap in USD of any token with a tracked trade within the last 24 h, listed or not; null
   * if unknown.
   */
  mcapOf(mint: string): Fraction | null
}

/** A tick and its changes. */
export interface ComputedTick extends WatchlistTick {
  /** Ordered by mint. */
  readonly changes: readonly WatchlistChange[]
}

/** Seconds between two ticks. */
export const TICK_SECONDS = 10

/** The first tick at or after a time. */
export function tickAt(time: number): number {
  return Math.ceil(time / TICK_SECONDS) * TICK_SECONDS
}
