import type { Side } from '../domain/event.ts'
import { QUOTES } from './mint-table.ts'
import { type Flows, quoteRank } from './net-flows.ts'

/** A swap as derived from flows. Mints are mint numbers, amounts are raw units. */
export interface FlowSwap {
  readonly side: Side
  readonly mint: number
  /** Above zero. */
  readonly amount: bigint
  /** Null when no quote coin opposed the base. */
  readonly quote: { readonly mint: number; readonly amount: bigint } | null
}

/**
 * Classification of the flows of a swap instruction: swaps, a conversion between quote coins, or
 * neither.
 */
export type FlowOutcome =
  | { readonly kind: 'swaps'; readonly swaps: readonly FlowSwap[] }
  | { readonly kind: 'conversion' }
  | { readonly kind: 'none' }

/**
 * Classifies the net flows of a wallet within one swap instruction (rules B6, B6a, B7, B8).
 *
 * `signed` says whether the wallet signed the transaction. `through` returns the amounts of each
 * quote coin that the route passed on; it is called only for base against base.
 */
export function classifyFlows(flows: Flows, signed: boolean, through: () => bigint[]): FlowOutcome {
  const bases = basesOf(flows)
  const [first, second] = bases
  if (first === undefined) return hasBothSigns(flows) ? { kind: 'conversion' } : { kind: 'none' }
  if (second === undefined) {
    const quote = opposingQuote(flows, first.amount)
    if (quote !== null) return swaps([toSwap(first, quote)])
  }
  if (second !== undefined && bases.length === 2 && first.amount > 0n !== second.amount > 0n) {
    const quote = routeQuote(through())
    return swaps([first, second].sort(sellsFirst).map((base) => toSwap(base, quote)))
  }
  if (!signed) return { kind: 'none' }
  // From here on, no single quote coin opposes the base (rule B6a).
  const gave = flows.some((flow) => flow < 0n)
  if (second === undefined) {
    return first.amount < 0n ? swaps([toSwap(first, null)]) : { kind: 'none' }
  }
  if (!gave) return { kind: 'none' }
  return swaps(bases.sort(sellsFirst).map((base) => toSwap(base, null)))
}

/**
 * The swap of a whole transaction: exactly one base, and a quote coin in the opposite direction
 * (rule B10). Null when the flows are anything else.
 */
export function singleSwap(flows: Flows): FlowSwap | null {
  const bases = basesOf(flows)
  const base = bases.length === 1 ? bases[0] : undefined
  const quote = base === undefined ? null : opposingQuote(flows, base.amount)
  return base === undefined || quote === null ? null : toSwap(base, quote)
}

/** Whether the flows exchange quote coins for each other and nothing else (rule B8). */
export function isQuoteConversion(flows: Flows): boolean {
  return basesOf(flows).length === 0 && hasBothSigns(flows)
}

interface Base {
  readonly mint: number
  readonly amount: bigint
}

/** Base flows other than zero, by mint number. The caller sorts them by address. */
function basesOf(flows: Flows): Base[] {
  const bases: Base[] = []
  for (let mint = QUOTES; mint < flows.length; mint++) {
    if (flows[mint] !== 0n) bases.push({ mint, amount: flows[mint]! })
  }
  return bases
}

function hasBothSigns(flows: Flows): boolean {
  const quotes = flows.slice(0, QUOTES)
  return quotes.some((flow) => flow > 0n) && quotes.some((flow) => flow < 0n)
}

/** The quote coin of the highest worth among those that moved against the base. */
function opposingQuote(flows: Flows, base: bigint): FlowSwap['quote'] {
  let best: FlowSwap['quote'] = null
  for (let mint = 0; mint < QUOTES; mint++) {
    const flow = flows[mint]!
    if (flow === 0n || flow > 0n === base > 0n) continue
    const amount = flow < 0n ? -flow : flow
    if (best === null || quoteRank(mint, amount) > quoteRank(best.mint, best.amount))
      best = { mint, amount }
  }
  return best
}

/** The first of WSOL, USDC, USDT whose worth is at least 90% of the highest (rule B7). */
function routeQuote(through: bigint[]): FlowSwap['quote'] {
  const ranks = through.map((amount, mint) => quoteRank(mint, amount))
  let largest = 0n
  for (const worth of ranks) if (worth > largest) largest = worth
  if (largest === 0n) return null
  const mint = ranks.findIndex((worth) => worth * 10n >= largest * 9n)
  return { mint, amount: through[mint]! }
}

function sellsFirst(a: Base, b: Base): number {
  return Number(a.amount > 0n) - Number(b.amount > 0n)
}

function toSwap(base: Base, quote: FlowSwap['quote']): FlowSwap {
  const bought = base.amount > 0n
  return {
    side: bought ? 'buy' : 'sell',
    mint: base.mint,
    amount: bought ? base.amount : -base.amount,
    quote,
  }
}

function swaps(list: readonly FlowSwap[]): FlowOutcome {
  return { kind: 'swaps', swaps: list }
}
