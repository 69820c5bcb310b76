import type { Address } from '../../../pipeline/domain/address.ts'
import type { Key } from './key.ts'
import type { Mint } from './transaction-builder.ts'
import type { Coin, Universe } from './universe.ts'
import { curveOf } from './venues/pumpfun.ts'

/** The state account of a coin's pool: its bonding curve, pool or pair. */
export function poolKeyOf(coin: Coin): Key {
  return coin.venue === 'pumpfun' ? curveOf(coin) : coin.key('pool')
}

/** The pool of a swap of a mint by a program; null when the swap uses no pool. */
export function poolOfSwap(universe: Universe, mint: Mint, program: string): Address | null {
  if (program === 'unknown' || program === 'jupiter_rfq') return null
  let pools = poolsOf.get(universe)
  if (pools === undefined) {
    pools = new Map(universe.coins.map((coin) => [coin.mint.key.id, poolKeyOf(coin).address]))
    poolsOf.set(universe, pools)
  }
  return pools.get(mint.key.id) ?? null
}
const poolsOf = new WeakMap<Universe, Map<string, Address>>()
