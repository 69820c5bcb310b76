import type { Address } from '../../pipeline/domain/address.ts'
import { createChainShape } from '../simulator/chain-shape.ts'
import { createMarket, GENESIS_MS, SLOT_MS } from '../simulator/market/market.ts'
import { NO_TROUBLE } from '../simulator/options.ts'
import type { TradeItem } from './customer.ts'
import { tradeItem } from './trade-item.ts'

/** What a service over the simulator's market must show, as the market itself says it. */
export interface MarketTruth {
  /** `W1` first. */
  readonly wallets: readonly Address[]
  /** The slot that a clock on the wall has reached at a time in unix milliseconds. */
  slotAt(timeMs: number): number
  /** The trades of these slots, both included, in event-key order. */
  trades(fromSlot: number, toSlot: number): TradeItem[]
}

/** The market of a simulator that was started with a seed and no other option. */
export function marketTruth(seed: number): MarketTruth {
  const options = { seed, wallets: 25, coins: 200, trackedPerSlot: 1.5, othersPerSlot: 6 }
  const market = createMarket(options, createChainShape(seed, NO_TROUBLE))
  return {
    wallets: market.universe.wallets.map((wallet) => wallet.key.address),
    slotAt: (timeMs) => Math.floor((timeMs - GENESIS_MS) / SLOT_MS) - 1,
    trades(fromSlot, toSlot) {
      const trades: TradeItem[] = []
      for (let slot = fromSlot; slot <= toSlot; slot++) {
        for (const event of market.truth(slot).events) {
          if (event.kind === 'swap') trades.push(tradeItem(event))
        }
      }
      return trades
    },
  }
}
