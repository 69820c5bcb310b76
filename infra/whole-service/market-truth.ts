import type { Address } from '../../pipeline/domain/address.ts'
import { serveSwap } from '../../pipeline/domain/perturbation.ts'
import { createChainShape } from '../simulator/chain-shape.ts'
import { createMarket } from '../simulator/market/market.ts'
import { compressedSlots } from '../simulator/market/past.ts'
import { BUSY_MARKET, CALM_MARKET } from '../simulator/market/sizes.ts'
import { GENESIS_MS, SLOT_MS } from '../simulator/market/slot-time.ts'
import { NO_TROUBLE } from '../simulator/options.ts'
import type { ContractTrade } from './customer.ts'
import { contractTrade } from './trade-item.ts'

/** Expected responses of a service over the simulator's market, computed by the market. */
export interface MarketTruth {
  /** `W1` first. */
  readonly wallets: readonly Address[]
  /** The slot that the wall clock has reached at a time in unix milliseconds. */
  slotAt(timeMs: number): number
  /** The trades of these slots, both included, in event-key order. */
  trades(fromSlot: number, toSlot: number): ContractTrade[]
}

/**
 * The market of a simulator that was started with a seed and no other option. With hours of
 * history, it was started at most some minutes ago, and only the last twenty minutes are available.
 */
export function marketTruth(seed: number, historyHours = 0): MarketTruth {
  const now = Math.floor((Date.now() - GENESIS_MS) / SLOT_MS)
  const compressed = historyHours === 0 ? undefined : compressedSlots(now, 3_000, historyHours)
  const size = compressed === undefined ? BUSY_MARKET : CALM_MARKET
  const market = createMarket({ ...size, seed, compressed }, createChainShape(seed, NO_TROUBLE))
  return {
    wallets: market.universe.wallets.map((wallet) => wallet.key.address),
    slotAt: (timeMs) => Math.floor((timeMs - GENESIS_MS) / SLOT_MS) - 1,
    trades(fromSlot, toSlot) {
      const trades: ContractTrade[] = []
      for (let slot = fromSlot; slot <= toSlot; slot++) {
        for (const event of market.truth(slot).events) {
          if (event.kind === 'swap') trades.push(contractTrade(serveSwap(event, null)))
        }
      }
      return trades
    },
  }
}
