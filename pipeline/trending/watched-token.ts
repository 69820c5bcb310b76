/** Where a listed token stands (rule G4). */
export type WatchState = 'discovered' | 'accumulating' | 'distributing' | 'holding'

/** A figure beside what it was one hour before (rule G3). */
export interface Momentum {
  /** USD for a market cap, wallets for holders, SOL for volume and liquidity; null while it is not known. */
  readonly value: number | null
  /** Percent since then; 0 without an hour of history, and while either is not known; 100 from nothing to something. */
  readonly changePct: number
  /** `up` above +5%, `down` below -5%, else `flat`. */
  readonly trend: Trend
}

export type Trend = 'up' | 'down' | 'flat'

export type MomentumOf = 'mcap' | 'holders' | 'volume1h' | 'liquidity'

/**
 * A token of the watchlist as of a tick, a block time divisible by 10 (rules G1 to G4). All of it follows from what is stored of the time up to then; with
 * `PRIVACY_SALT` from the swaps as they are served (rule I2). SOL figures are lamports, times unix seconds, market caps USD.
 */
export interface WatchedToken {
  /** The tick since which nothing below has changed. */
  readonly at: number
  readonly mint: string
  /** '' until known. */
  readonly symbol: string
  readonly name: string
  /** First swap of a tracked wallet. */
  readonly firstTradeAt: number
  /** When a second wallet bought for the first time. */
  readonly discoveredAt: number
  /** The tick at which it came to the list: `(mint, enteredAt)` names one stay. */
  readonly enteredAt: number
  /** First trade of the holder who traded first, as `holding_time` of the holdings has it; null when nobody holds. */
  readonly oldestHoldAt: number | null
  readonly lastTradeAt: number
  /** Wallets that hold by their swaps (rule C14), and their numbers, ascending. */
  readonly walletsHolding: number
  readonly wallets: readonly number[]
  /** 0 to 100. */
  readonly conviction: number
  /** Cost of the holders' open lots. */
  readonly heldLamports: bigint
  /** Held / bought, both summed over the holders; 0 to 1, 0 when nobody holds. */
  readonly pctHeld: number
  /** Of the holders whose entry market cap is known, weighted by what they spent; null when nothing is known or was spent. */
  readonly avgEntryMcap: number | null
  readonly currentMcap: number | null
  /** `currentMcap` / `avgEntryMcap`; null while either is. */
  readonly multiple: number | null
  /** Lowest and highest entry market cap that is known of a holder. */
  readonly bandMin: number | null
  readonly bandMax: number | null
  /** Values of buys and of sells in the last hour. */
  readonly buyLamports: bigint
  readonly sellLamports: bigint
  readonly momentum: Readonly<Record<MomentumOf, Momentum>>
  readonly state: WatchState
  /** One wallet holds, or nine tenths of 24 hours are over since the last trade. */
  readonly nearEvict: boolean
}

export type WatchEvent = 'entered' | 'changed' | 'left'

/** What a tick changed of one token: a row of table `watchlist`. */
export interface WatchlistChange {
  readonly event: WatchEvent
  /** As of the tick; of a token that left, what it was as it did. */
  readonly token: WatchedToken
  /** What led to each transition, for people; empty when figures alone changed. */
  readonly reasons: readonly string[]
}

/** One stay of a token on the list. */
export interface Stay {
  readonly mint: string
  /** `enteredAt` of it. */
  readonly entry: number
}

/** The list as of one tick, as strategies see it. Valid until the next tick is computed. */
export interface WatchlistTick {
  /** Unix seconds, divisible by 10. */
  readonly at: number
  /** Every listed token, in no certain order; ages are `at` less the times. */
  readonly listed: readonly WatchedToken[]
  readonly left: readonly Stay[]
  /** Market cap in USD of any token with a tracked trade within the last 24 h, listed or not; null when it is not known. */
  mcapOf(mint: string): number | null
}

/** Seconds between two ticks. */
export const TICK_SECONDS = 10
