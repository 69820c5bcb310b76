import { USDC, USDT, WSOL } from '../domain/quote.ts'
import type { TrendingEvent } from '../trending/trending-event.ts'
import { Rational } from './rational.ts'
import type { WatchlistInputs } from './slow-watchlist.ts'

/** An event in its served form, and the time from which it counts. */
export type ServedEvent = TrendingEvent & { readonly time: number }

/**
 * Returns events in their served form, each with the time from which it counts: not before the
 * previous event of the same wallet and token. They are ordered by that time, then by event key.
 */
export function servedEvents({ events, perturb }: WatchlistInputs): ServedEvent[] {
  const newest = new Map<string, number>()
  const counted = events.map((event) => {
    const { factorPpm, earlierSeconds } = perturb?.(event) ?? {
      factorPpm: 1_000_000n,
      earlierSeconds: 0,
    }
    const served = (amount: bigint) => {
      const product = (amount * factorPpm) / 1_000_000n
      return amount > 0n && product === 0n ? 1n : product
    }
    const key = `${event.wallet} ${event.mint}`
    const blockTime = event.blockTime - earlierSeconds
    const time = Math.max(blockTime, newest.get(key) ?? 0)
    newest.set(key, time)
    const amount = served(event.amount)
    const value = event.value === null ? null : served(event.value)
    const price = event.solPriceUsdE9
    const digits = perturb === null || price === null ? null : Number(price).toPrecision(3)
    const solPriceUsdE9 = digits === null ? price : BigInt(Number(digits))
    return { ...event, blockTime, amount, value, solPriceUsdE9, time }
  })
  const keyOf = (event: ServedEvent) => [
    event.time,
    event.slot,
    event.txIndex,
    event.wallet,
    event.eventIndex,
  ]
  return counted.sort((a, b) => {
    const other = keyOf(b)
    return keyOf(a).reduce((order, part, at) => order || part - (other[at] ?? 0), 0)
  })
}

/** Whether an event is a trade. */
export function isSwap({ kind }: TrendingEvent): boolean {
  return kind === 'buy' || kind === 'sell'
}

/** Market cap in USD and liquidity in SOL; null while unknown. */
export interface SlowMarket {
  readonly mcap: Rational | null
  readonly liquidity: Rational | null
}

/** The market of a token as of a time, from what happened until then (rules G3, G6). */
export function marketAt(
  stored: WatchlistInputs,
  mint: string,
  past: readonly ServedEvent[],
  time: number,
  enteredAt: number,
): SlowMarket {
  const supply = stored.facts.get(mint)?.supply ?? null
  const mcapAt = (price: Rational | null) =>
    price === null || supply === null ? null : price.times(new Rational(supply))
  const step = Math.floor(time / 600) * 600
  const swaps = past.filter(isSwap)
  const lastPool = swaps.filter(({ pool }) => pool !== '').at(-1)?.pool
  const snapshot = stored.pools.filter((one) => one.mint === mint && one.at <= time).at(-1)
  if (
    snapshot !== undefined &&
    snapshot.at >= enteredAt &&
    snapshot.pool !== '' &&
    snapshot.pool === lastPool &&
    snapshot.price.base > 0n &&
    [WSOL, USDC, USDT].includes(snapshot.quoteMint as typeof WSOL)
  ) {
    const sol = dollarsPerSol(stored, Math.max(step, snapshot.at))
    const price = new Rational(snapshot.price.quote, snapshot.price.base)
    const reserve = new Rational(2n * snapshot.quoteReserve)
    if (snapshot.quoteMint === WSOL)
      return {
        mcap: mcapAt(sol && price.per(LAMPORTS).times(sol)),
        liquidity: reserve.per(LAMPORTS),
      }
    const dollars = reserve.per(MICROS)
    return { mcap: mcapAt(price.per(MICROS)), liquidity: sol && dollars.per(sol) }
  }
  const newest = swaps.filter(({ value }) => value !== null && value > 0n).at(-1)
  if (newest === undefined || newest.value === null) return { mcap: null, liquidity: null }
  const { value, amount, solPriceUsdE9 } = newest
  const own = solPriceUsdE9 === null ? null : new Rational(solPriceUsdE9, 10n ** 9n)
  const sol =
    step > newest.time ? dollarsPerSol(stored, step) : (own ?? dollarsPerSol(stored, newest.time))
  const price = new Rational(value, amount).per(LAMPORTS)
  return { mcap: mcapAt(sol && price.times(sol)), liquidity: null }
}

const LAMPORTS = new Rational(10n ** 9n)
const MICROS = new Rational(10n ** 6n)

function dollarsPerSol(
  { solPrices, solPriceMaxAgeSeconds }: WatchlistInputs,
  time: number,
): Rational | null {
  const known = solPrices.filter((price) => price.time <= time).at(-1)
  if (known === undefined || time - known.time > solPriceMaxAgeSeconds) return null
  return new Rational(known.usdE9, 10n ** 9n)
}
