import type { Address } from '../../../pipeline/domain/address.ts'
import { createChainSource } from '../../simulator/chain-source.ts'
import { SLOT_MS } from '../../simulator/market/slot-time.ts'
import type { SimulatorOptions } from '../../simulator/options.ts'
import { strangerOf } from '../kit/stranger.ts'

/** How much is traded. */
export interface MarketSize {
  /** Tracked wallets. */
  readonly wallets: number
  /** Swaps a second, usually and in a burst. */
  readonly rate: number
  readonly burst: number
}

/** Of each wallet of the market; all of them trade in a burst. */
const COPIES = 1000
const WALLETS_PER_DESK = 5
/** Transactions of a slot that the market has at least for each desk. */
const FEWEST_PER_DESK = 0.05
/**
 * Swaps for each transaction that the market is asked for, as measured: seven tenths are swaps, and
 * a story has more transactions than the market counts on.
 */
const SWAPS_PER_ACTION = 0.9
/** The encoded updates of these and 64 more are in memory. */
const REPLAY_SLOTS = 16
/** Updates wait here, instead of breaking the stream, while ingest is slower than a burst. */
const MOST_QUEUED_UPDATES = 500_000

/** A market in which as many copies of wallets trade as the rate takes, and in a burst all. */
export function marketOptions(
  { wallets, rate, burst }: MarketSize,
  isBurst: (slot: number) => boolean,
): SimulatorOptions {
  const desks = Math.max(1, Math.floor(wallets / COPIES / WALLETS_PER_DESK))
  const originals = desks * WALLETS_PER_DESK
  const count = Math.max(1, Math.min(COPIES, Math.floor(wallets / originals)))
  const perSlot = (rate * SLOT_MS) / 1000 / SWAPS_PER_ACTION
  const most = Math.floor(perSlot / (desks * FEWEST_PER_DESK))
  const usual = Math.max(1, Math.min(count, most, Math.round((count * rate) / burst)))
  const inBurst = Math.min(count, Math.round((usual * burst) / rate))
  return {
    wallets: originals,
    coins: 2000,
    trackedPerSlot: perSlot / usual,
    othersPerSlot: 0,
    replaySlots: REPLAY_SLOTS,
    maxQueuedUpdates: MOST_QUEUED_UPDATES,
    copies: { count, at: (slot) => (isBurst(slot) ? inBurst : usual) },
  }
}

/** The tracked wallets: those of the market, at any rate, then some that never trade. */
export function trackedAddresses(wallets: number): Address[] {
  const size = { wallets, rate: 1, burst: 1 }
  const trading = createChainSource(marketOptions(size, () => false)).wallets
  const strangers = Math.max(0, wallets - trading.length)
  return [...trading, ...Array.from({ length: strangers }, (_, number) => strangerOf(number))]
}
