import type { MarketOptions } from './market.ts'

type Size = Pick<MarketOptions, 'wallets' | 'coins' | 'trackedPerSlot' | 'othersPerSlot'>

/** A market that is always in a hurry: for tests and load. */
export const BUSY_MARKET: Size = { wallets: 25, coins: 200, trackedPerSlot: 1.5, othersPerSlot: 6 }

/** A market with a compressed history, in which coins are held for hours: what `npm start` shows. */
export const CALM_MARKET: Size = { wallets: 30, coins: 96, trackedPerSlot: 0.3, othersPerSlot: 1 }
