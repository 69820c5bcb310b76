import type { Address } from '../../pipeline/domain/address.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import { Rational } from '../../pipeline/testing/rational.ts'
import { slowValue } from '../../pipeline/testing/slow-events.ts'
import type { SlowSwap } from '../../pipeline/testing/slow-prices.ts'
import { contractTrade } from '../whole-service/trade-item.ts'

/** What REST must answer to a request, with all pages of a list joined. */
export interface SlowAnswer {
  /** Path and query, without the parameter that names a page. */
  readonly path: string
  /** How its list is paged; null: it is one answer. */
  readonly paging: 'page' | 'cursor' | null
  /** The fields that are the same on every page. */
  readonly fields: Item
  /** All items of the list; empty for one answer. */
  readonly items: readonly Item[]
}

/** A JSON object of an answer. */
export type Item = Readonly<Record<string, unknown>>

/** What is known of each mint: its supply, null while it is not known; symbol and name, or ''. */
export type FactsByMint = ReadonlyMap<
  string,
  { readonly supply: bigint | null; readonly symbol: string; readonly name: string }
>

/** A wallet's swaps of a mint, in order of the event key, and their sums. */
export interface Traded {
  readonly wallet: number
  readonly mint: Address
  readonly decimals: number
  readonly swaps: readonly Swap[]
  readonly buys: readonly Swap[]
  readonly sells: readonly Swap[]
  readonly bought: bigint
  readonly sold: bigint
  readonly spent: bigint
  readonly received: bigint
  readonly first: number
  readonly last: number
}

/** Picks a wallet's swaps of a mint from a list in order; null for none. */
export function tradedOf(wallet: number, mint: Address, all: readonly Swap[]): Traded | null {
  const swaps = all.filter((swap) => swap.wallet === wallet && swap.baseMint === mint)
  const [first] = swaps
  const last = swaps.at(-1)
  if (first === undefined || last === undefined) return null
  const buys = swaps.filter(({ side }) => side === 'buy')
  const sells = swaps.filter(({ side }) => side === 'sell')
  return {
    wallet,
    mint,
    decimals: first.baseDecimals,
    swaps,
    buys,
    sells,
    bought: sumOfAmounts(buys),
    sold: sumOfAmounts(sells),
    spent: sumOfValues(buys),
    received: sumOfValues(sells),
    first: first.blockTime,
    last: last.blockTime,
  }
}

/** Whether more was bought than sold. */
export function isHeld({ bought, sold }: Traded): boolean {
  return bought > sold
}

/** Order of holdings (rule C17). */
export function byActivity(a: Traded, b: Traded): number {
  return b.last - a.last || compare(a.mint, b.mint) || a.wallet - b.wallet
}

export function timingOf({ first, last }: Traded, now: number): Item {
  return { first_activity_at: first, last_activity_at: last, holding_time: now - first }
}

export function tokenField({ mint, decimals }: Traded): Item {
  return { address: mint, decimals }
}

export function pctHeld({ bought, sold }: Traded): number {
  return bought === 0n || sold > bought ? 0 : new Rational(bought - sold, bought).toNumber()
}

/** A swap, as far as it may give a price. */
export function slowSwap(swap: Swap): SlowSwap {
  return { ...swap, mint: swap.baseMint, amount: swap.baseAmount, value: slowValue(swap) }
}

/** An answer that is no list. */
export function oneAnswer(path: string, fields: Item): SlowAnswer {
  return { path, paging: null, fields, items: [] }
}

/** The answer of a list of trades; `swaps` are those that it must have, the newest first. */
export function tradesAnswer(path: string, swaps: readonly Swap[], facts: FactsByMint): SlowAnswer {
  const items = swaps.map((swap) => ({ ...contractTrade(swap), ...addedFields(swap, facts) }))
  return { path, paging: 'cursor', fields: {}, items }
}

/** What rule L3 adds to a trade or swap. */
export function addedFields(swap: Swap, facts: FactsByMint): Item {
  const value = slowValue(swap)
  const amount = new Rational(swap.baseAmount, 10n ** BigInt(swap.baseDecimals))
  return {
    sol_value: value === null ? null : inSol(value),
    price_sol: value === null ? null : new Rational(value, 10n ** 9n).per(amount).toNumber(),
    symbol: facts.get(swap.baseMint)?.symbol || null,
  }
}

export const totalOf = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n)
export const sumOfValues = (swaps: readonly Swap[]) =>
  totalOf(swaps.map((swap) => slowValue(swap) ?? 0n))
const sumOfAmounts = (swaps: readonly Swap[]) => totalOf(swaps.map(({ baseAmount }) => baseAmount))
export const inSol = (lamports: bigint) => new Rational(lamports, 10n ** 9n).toNumber()
export const inTokens = (amount: bigint, decimals: number) =>
  new Rational(amount, 10n ** BigInt(decimals)).toNumber()
export const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
