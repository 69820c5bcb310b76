import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ProfitCut, ProfitFold } from '../../pipeline/fold/profit-fold.ts'
import type { FoldAs } from '../../pipeline/fold/wallet-positions.ts'
import { batches } from '../../pipeline/runtime/batches.ts'
import type { Store } from '../../pipeline/store/store.ts'
import {
  readTokenPrices,
  type TokenPrices,
  type TokenPricesOf,
} from '../../pipeline/store/tables/token-prices.ts'
import type { ProfitPoint } from '../items/profit-point.ts'
import { lamportsAt } from '../items/wallet-position.ts'
import type { KeptHistories } from './kept-histories.ts'

/** Which points of a wallet's profit are wanted. */
export interface ProfitPointsOf extends FoldAs {
  readonly histories: Pick<KeptHistories, 'read'>
  /** Unix seconds, ascending. */
  readonly times: readonly number[]
  /** Seconds before a point whose swaps are its volume. */
  readonly interval: number
  /** How prices are read. */
  readonly prices: Omit<TokenPricesOf, 'mints' | 'times' | 'wallet' | 'perturb'>
}

/** Returns the profit of a wallet at some times (rule L8). */
export async function readProfitPoints(store: Store, of: ProfitPointsOf): Promise<ProfitPoint[]> {
  const { histories, wallet, times, interval, prices } = of
  const cuts = new Set(times.flatMap((time) => [time - interval, time]))
  const fold = new ProfitFold(
    of,
    [...cuts].sort((a, b) => a - b),
  )
  const made: ProfitCut[] = []
  for await (const page of histories.read(store, wallet, prices.stored))
    for (const event of page) for (const cut of fold.add(event)) made.push(cut)
  made.push(...fold.end())
  const traded = new Map(made.map((cut) => [cut.time, cut.traded]))
  const points: ProfitPoint[] = []
  for await (const valued of valueCuts(store, of, made))
    points.push({
      time: valued.time,
      realized: valued.realized,
      openCost: valued.openCost,
      volume: valued.traded - (traded.get(valued.time - interval) ?? 0n),
      value: valued.value,
      pricedCost: valued.pricedCost,
      unpriced: valued.unpriced,
    })
  return points
}

type Holding = ProfitCut['changed'][number]

/** Yields the cuts at the points, with the value of what is open (rule L5). */
async function* valueCuts(store: Store, of: ProfitPointsOf, cuts: readonly ProfitCut[]) {
  const open = new Map<string, Holding>()
  const isPoint = new Set(of.times)
  let valued = 0
  for (const slice of slices(cuts)) {
    const times = slice.cuts.flatMap(({ time }) => (isPoint.has(time) ? [time] : []))
    const priceOf = await readPrices(store, of, slice.mints, times)
    for (const cut of slice.cuts) {
      for (const holding of cut.changed)
        if (holding.amount > 0n) open.set(holding.mint, holding)
        else open.delete(holding.mint)
      if (!isPoint.has(cut.time)) continue
      yield { ...cut, ...valueAt(priceOf(cut.time), open.values()) }
      valued += open.size
      if (valued < VALUES_AT_ONCE) continue
      valued = 0
      await nextTurn()
    }
  }
}

type PriceOf = TokenPrices['priceOf']

function valueAt(priceOf: PriceOf, open: Iterable<Holding>) {
  let [value, pricedCost, unpriced] = [0n, 0n, 0]
  for (const { mint, amount, cost } of open) {
    const price = priceOf(mint)
    if (price === null) {
      unpriced += 1
      continue
    }
    value += lamportsAt(amount, price.price)
    pricedCost += cost
  }
  return { value, pricedCost, unpriced }
}

/** Successive cuts, with every token that is open at one of them. */
function* slices(cuts: readonly ProfitCut[]) {
  const open = new Set<string>()
  let some: ProfitCut[] = []
  let mints = new Set<string>()
  for (const cut of cuts) {
    const opened = cut.changed.filter(({ amount }) => amount > 0n)
    if ((mints.size + opened.length) * (some.length + 1) > PRICES_AT_ONCE && some.length > 0) {
      yield { cuts: some, mints }
      some = []
      mints = new Set(open)
    }
    for (const { mint, amount } of cut.changed)
      if (amount > 0n) open.add(mint)
      else open.delete(mint)
    for (const { mint } of opened) mints.add(mint)
    some.push(cut)
  }
  if (some.length > 0) yield { cuts: some, mints }
}

/** Returns the prices at a time, which moves forward over `times`. */
async function readPrices(
  store: Store,
  { wallet, perturb, prices }: ProfitPointsOf,
  mints: ReadonlySet<string>,
  times: readonly number[],
): Promise<(time: number) => PriceOf> {
  const read = new Set<TokenPrices>()
  const pricesOf = new Map<string, TokenPrices>()
  for (const some of batches([...mints], MINTS_AT_ONCE)) {
    const found = await readTokenPrices(store, { ...prices, mints: some, wallet, times, perturb })
    read.add(found)
    for (const mint of some) pricesOf.set(mint, found)
  }
  return (time) => {
    for (const found of read) found.moveTo(time)
    return (mint) => pricesOf.get(mint)?.priceOf(mint) ?? null
  }
}

/** Prices in memory, and mints in one query. */
const PRICES_AT_ONCE = 100_000
const MINTS_AT_ONCE = 1000
/** Positions that are valued before the process serves other requests: some milliseconds. */
const VALUES_AT_ONCE = 10_000
