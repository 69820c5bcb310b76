import type { Momentum, WatchedToken } from '../trending/watched-token.ts'
import { Rational, sumOf } from './rational.ts'
import { holdersOf, type SlowHolder } from './slow-holders.ts'
import { isSwap, marketAt, type ServedEvent } from './slow-market.ts'
import type { WatchlistInputs } from './slow-watchlist.ts'

/** Returns a token as of a tick, every figure computed from its whole past (rules G2 to G4, G6). */
export function tokenAt(
  stored: WatchlistInputs,
  mint: string,
  past: readonly ServedEvent[],
  at: number,
  enteredAt: number,
): WatchedToken {
  const { supply, symbol, name } = stored.facts.get(mint) ?? { supply: null, symbol: '', name: '' }
  const swaps = past.filter(isSwap)
  const first = swaps[0]
  const last = swaps.at(-1)
  if (first === undefined || last === undefined) throw new Error('a listed token was traded')
  const holders = holdersOf(past)
  const flow = (side: 'buy' | 'sell', after: number, through: number) =>
    sumOf(
      swaps
        .filter(({ kind, time }) => kind === side && time > after && time <= through)
        .map(({ value }) => new Rational(value ?? 0n)),
    )
  const [buys, sells] = [flow('buy', at - 3600, at), flow('sell', at - 3600, at)]
  const earlier = flow('buy', at - 7200, at - 3600).plus(flow('sell', at - 7200, at - 3600))
  const held = sumOf(holders.map((holder) => new Rational(holder.held)))
  const bought = sumOf(holders.map((holder) => new Rational(holder.bought)))
  const pctHeld = bought.isZero() ? ZERO : held.per(bought)
  const { mean, lowest, highest } = entriesOf(holders, supply)
  const pastHour = past.filter(({ time }) => time <= at - 3600)
  const now = marketAt(stored, mint, past, at, enteredAt)
  const ago = marketAt(stored, mint, pastHour, at - 3600, enteredAt)
  const hasHour = first.time <= at - 3600
  const momentum = (value: Rational | null, then: Rational | null, unknown: 0 | null) =>
    momentumBetween(value, then, hasHour, unknown)
  const buyers = swaps.filter(({ kind }) => kind === 'buy')
  return {
    at,
    mint,
    symbol,
    name,
    firstTradeAt: first.time,
    discoveredAt: buyers.find(({ wallet }) => wallet !== buyers[0]?.wallet)?.time ?? 0,
    enteredAt,
    oldestHoldAt: oldestOf(holders, swaps),
    lastTradeAt: last.time,
    walletsHolding: holders.length,
    wallets: holders.map(({ wallet }) => wallet),
    conviction: convictionOf(holders.length, pctHeld, buys, sells).toNumber(),
    heldLamports: holders.reduce((sum, { cost }) => sum + cost, 0n),
    pctHeld: pctHeld.toNumber(),
    avgEntryMcap: mean?.toNumber() ?? null,
    currentMcap: now.mcap?.toNumber() ?? null,
    exactMcap: now.mcap?.toString() ?? '',
    multiple: now.mcap && mean && !mean.isZero() ? now.mcap.per(mean).toNumber() : null,
    bandMin: lowest?.toNumber() ?? null,
    bandMax: highest?.toNumber() ?? null,
    buyLamports: buys.over,
    sellLamports: sells.over,
    momentum: {
      mcap: momentum(now.mcap, ago.mcap, null),
      holders: momentum(new Rational(holders.length), new Rational(holdersOf(pastHour).length), 0),
      volume1h: momentum(buys.plus(sells).per(SOL), earlier.per(SOL), 0),
      liquidity: momentum(now.liquidity, ago.liquidity, 0),
    },
    state: stateOf(at - enteredAt, buys, sells),
    nearEvict: holders.length === 1 || at - last.time >= 77_760,
  }
}

const ZERO = new Rational(0n)
const SOL = new Rational(10n ** 9n)

function convictionOf(holders: number, pctHeld: Rational, buys: Rational, sells: Rational) {
  const volume = buys.plus(sells)
  const share = volume.isZero() ? ZERO : buys.per(volume)
  const crowd = new Rational(Math.min(holders, 10), 10)
  return sumOf([
    crowd.times(new Rational(40)),
    pctHeld.times(new Rational(30)),
    share.times(new Rational(30)),
  ])
}

/** Mean, lowest and highest entry market cap of the holders whose entry is known. */
function entriesOf(holders: readonly SlowHolder[], supply: bigint | null) {
  const entries = holders.flatMap(({ firstBuy, spent }) => {
    if (supply === null || firstBuy?.value == null || firstBuy.solPriceUsdE9 === null) return []
    const price = new Rational(firstBuy.value, firstBuy.amount)
    const sol = new Rational(firstBuy.solPriceUsdE9, 10n ** 18n)
    return [{ mcap: price.times(sol).times(new Rational(supply)), weight: new Rational(spent) }]
  })
  const [first, ...others] = entries.map(({ mcap }) => mcap)
  if (first === undefined) return { mean: null, lowest: null, highest: null }
  const weight = sumOf(entries.map((entry) => entry.weight))
  const weighted = sumOf(entries.map((entry) => entry.mcap.times(entry.weight)))
  return {
    mean: weight.isZero() ? null : weighted.per(weight),
    lowest: others.reduce((least, one) => (least.isAbove(one) ? one : least), first),
    highest: others.reduce((most, one) => (one.isAbove(most) ? one : most), first),
  }
}

/** Rules G3 and G6. `unknown` is the change while a figure that it needs is unknown. */
function momentumBetween(
  value: Rational | null,
  then: Rational | null,
  hasHour: boolean,
  unknown: 0 | null,
): Momentum {
  const flat = { value: value?.toNumber() ?? null, trend: 'flat' } as const
  if (value === null) return { ...flat, changePct: unknown }
  if (!hasHour) return { ...flat, changePct: 0 }
  if (then === null) return { ...flat, changePct: unknown }
  const hundred = new Rational(100n)
  const change = then.isZero()
    ? value.isZero()
      ? ZERO
      : hundred
    : value.per(then).times(hundred).minus(hundred)
  const isUp = change.isAbove(new Rational(5n))
  const isDown = new Rational(-5n).isAbove(change)
  const changePct = change.toNumber()
  return { ...flat, changePct, trend: isUp ? 'up' : isDown ? 'down' : 'flat' }
}

function stateOf(age: number, buys: Rational, sells: Rational): WatchedToken['state'] {
  const factor = new Rational(12, 10)
  if (age < 600) return 'discovered'
  if (buys.isAbove(sells.times(factor))) return 'accumulating'
  return sells.isAbove(buys.times(factor)) ? 'distributing' : 'holding'
}

/** The first trade of the holder who traded first. */
function oldestOf(holders: readonly SlowHolder[], swaps: readonly ServedEvent[]): number | null {
  const times = holders.map(
    (holder) => swaps.find(({ wallet }) => wallet === holder.wallet)?.time ?? 0,
  )
  return times.length === 0 ? null : Math.min(...times)
}
