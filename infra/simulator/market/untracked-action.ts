import { createRandom } from '../random.ts'
import { DeskLedger } from './desk-ledger.ts'
import { associatedTokenAccount, type Key } from './key.ts'
import type { MarketAction } from './scene.ts'
import { blockTimeOf } from './slot-time.ts'
import { swapOnVenue } from './trades.ts'
import { type Universe, USDC_TOKEN, usdcAccountOf, type Wallet } from './universe.ts'
import type { PoolBalances } from './venues/pool.ts'

/**
 * The swap of an untracked wallet at `position` in a slot. It depends on the seed, the slot and the
 * position alone. `pools` are the pools' accounts by key id.
 */
export function untrackedAction(
  universe: Universe,
  pools: ReadonlyMap<string, PoolBalances>,
  slot: number,
  position: number,
): MarketAction {
  // The label is a part of the seed: with another one the market changes.
  const random = createRandom(universe.seed, 'stranger', slot, position)
  const index = random.below(universe.untrackedKeys.length)
  const key = universe.untrackedKeys[index]!
  const coin = universe.coins[(index * 7 + random.below(4)) % universe.coins.length]!
  const ledger = new DeskLedger(pools, new Set())
  ledger.slot = slot
  ledger.grant(key, 50_000_000_000n + BigInt(random.uint32()), null)
  const usdc = { mint: USDC_TOKEN, owner: key, amount: 10_000_000_000n }
  ledger.grant(usdcAccountOf(key), 2_039_280n, usdc)
  const scene = { universe, ledger, slot, time: blockTimeOf(slot), random }
  const side = random.chance(0.5) ? 'buy' : 'sell'
  const held = coin.supply / BigInt(1_000 + random.below(1_000_000))
  if (side === 'sell') {
    const account = associatedTokenAccount(key, coin.mint.key, coin.mint.program)
    ledger.grant(account, 2_039_280n, { mint: coin.mint, owner: key, amount: held * 2n })
  }
  const spent = 1_000_000 + random.below(1_000_000_000)
  const amount = side === 'sell' ? held : BigInt(coin.quote === USDC_TOKEN ? spent : spent * 2)
  return swapOnVenue(scene, untrackedWallet(key), coin, side, amount, random.chance(0.1))
}

function untrackedWallet(key: Key): Wallet {
  return { number: 0, key, secret: new Uint8Array(), baseLamports: 0n, baseUsdc: 0n }
}
