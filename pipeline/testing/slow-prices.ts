import type { EventKey } from '../domain/event-key.ts'
import type { PoolSnapshot } from '../domain/pool-snapshot.ts'
import { USDC, USDT, WSOL } from '../domain/quote.ts'
import { Rational } from './rational.ts'

/** A swap, as far as it may give a price. */
export interface SlowSwap extends EventKey {
  readonly blockTime: number
  readonly mint: string
  /** Raw units. */
  readonly amount: bigint
  /** Lamports; null while it has no value. */
  readonly value: bigint | null
  readonly confidence: 'high' | 'delta_only'
}

/** All that prices of tokens follow from. */
export interface SlowPriceInputs {
  readonly swaps: readonly SlowSwap[]
  readonly pools: readonly Omit<PoolSnapshot, 'quoteReserve'>[]
  /** At most one a second. */
  readonly solPrices: readonly { readonly time: number; readonly usdE9: bigint }[]
  readonly solPriceMaxAgeSeconds: number
}

/** The price of a token: lamports for one raw unit. */
export interface SlowPrice {
  readonly price: Rational
  readonly source: 'pool' | 'swap'
  readonly time: number
  /** The swap that gives it. */
  readonly swap?: SlowSwap
}

/**
 * The price of a mint for a wallet at a time (rule L5), found by looking at every pool state and
 * every swap. `wallet` null: the swaps of every wallet count.
 */
export function slowTokenPrice(
  inputs: SlowPriceInputs,
  mint: string,
  wallet: number | null,
  at: number,
): SlowPrice | null {
  let state: SlowPriceInputs['pools'][number] | null = null
  for (const one of inputs.pools)
    if (one.mint === mint && one.at <= at && (state === null || one.at > state.at)) state = one
  if (state !== null && state.pool !== '' && state.price.base > 0n) {
    const price = new Rational(state.price.quote, state.price.base)
    if (state.quoteMint === WSOL) return { price, source: 'pool', time: state.at }
    const sol = slowSolPrice(inputs, at)
    if ((state.quoteMint === USDC || state.quoteMint === USDT) && sol !== null) {
      // A raw unit of the coin is 10^-6 USD, a lamport 10^-9 SOL.
      const dollars = price.per(new Rational(10n ** 6n))
      const lamports = dollars.per(sol).times(new Rational(10n ** 9n))
      return { price: lamports, source: 'pool', time: state.at }
    }
  }
  let newest: SlowSwap | null = null
  for (const swap of inputs.swaps) {
    if (swap.mint !== mint || swap.wallet === wallet) continue
    if (swap.value === null || swap.amount === 0n || swap.confidence !== 'high') continue
    if (swap.blockTime > at || swap.blockTime <= at - 86_400) continue
    if (newest === null || isLater(swap, newest)) newest = swap
  }
  if (newest === null || newest.value === null) return null
  const price = new Rational(newest.value, newest.amount)
  return { price, source: 'swap', time: newest.blockTime, swap: newest }
}

/** USD for one SOL at a time (rule C1); null while it is not known. */
export function slowSolPrice(
  { solPrices, solPriceMaxAgeSeconds }: SlowPriceInputs,
  at: number,
): Rational | null {
  let newest: SlowPriceInputs['solPrices'][number] | null = null
  for (const price of solPrices)
    if (price.time <= at && price.usdE9 > 0n && (newest === null || price.time > newest.time))
      newest = price
  if (newest === null || at - newest.time > solPriceMaxAgeSeconds) return null
  return new Rational(newest.usdE9, 10n ** 9n)
}

function isLater(a: SlowSwap, b: SlowSwap): boolean {
  const places = ({ blockTime, slot, txIndex, wallet, eventIndex }: SlowSwap) => [
    ...[blockTime, slot, txIndex, wallet, eventIndex],
  ]
  const [left, right] = [places(a), places(b)]
  const at = left.findIndex((place, index) => place !== right[index])
  return (left[at] ?? 0) > (right[at] ?? 0)
}
