import type { MarketOptions } from './market-options.ts'

type Size = Pick<MarketOptions, 'wallets' | 'coins' | 'trackedPerSlot' | 'othersPerSlot'>

/** The busy market without a compressed history, for tests and load. */
export const BUSY_MARKET: Size = { wallets: 25, coins: 200, trackedPerSlot: 1.5, othersPerSlot: 6 }

/**
 * The market with a compressed history, in which wallets hold coins for hours: the one of `npm
 * start`.
 */
export const CALM_MARKET: Size = { wallets: 30, coins: 96, trackedPerSlot: 0.3, othersPerSlot: 1 }
