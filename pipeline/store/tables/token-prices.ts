import type { EventKey } from '../../domain/event-key.ts'
import { type Fraction, fraction } from '../../domain/fraction.ts'
import type { Perturb } from '../../domain/perturbation.ts'
import { isDollar, WSOL } from '../../domain/quote.ts'
import type { Store } from '../store.ts'
import { EVENT_KEY, type EventKeyRow, keyOf } from './event-rows.ts'
import { readSolPrices } from './sol-prices.ts'
import { swapsOfMints } from './swaps.ts'

// Prices of tokens (rule L5), from tables `pool_states` and `swaps`. Both are read in the order of
// projection `by_mint`. ClickHouse returns one row for each mint and time that is asked for.

/** A swap gives a price for so many seconds (rule L5). */
const SWAP_SECONDS = 86_400

/** What one token was worth, and how that is known. */
export interface TokenPrice {
  /** Lamports for one raw unit, exact. */
  readonly price: Fraction
  readonly source: 'pool' | 'swap'
  /**
   * Unix seconds from which the price holds: the tick of a pool state, or the block time of a swap;
   * its served time with a salt.
   */
  readonly time: number
}

/** Which prices are read. */
export interface TokenPricesOf {
  /** At most 1,000. */
  readonly mints: readonly string[]
  /** The wallet whose own swaps give no price; null: the swaps of every wallet count. */
  readonly wallet: number | null
  /** Unix seconds, ascending, none after the block time of the storage marker. */
  readonly times: readonly number[]
  /** Slot of the storage marker. */
  readonly stored: number
  /** Whether stored swaps were ever corrected. */
  readonly wasRedecoded: boolean
  /** How old a SOL/USD price may be (rule C1). */
  readonly solPriceMaxAgeSeconds: number
  readonly perturb: Perturb | null
}

/**
 * Reads the prices of some tokens at some times. The caller steps through the times with `moveTo`.
 * Holds at most two rows for each mint and time.
 *
 * With a salt, swaps are chosen by their true order and times. The age of a price, and so its end,
 * follows the served time (rule L13).
 */
export async function readTokenPrices(store: Store, of: TokenPricesOf): Promise<TokenPrices> {
  const { mints, times, solPriceMaxAgeSeconds } = of
  if (mints.length === 0 || times.length === 0) return new TokenPrices([], [], new Map())
  const [pools, swaps] = await Promise.all([readPools(store, of), readSwaps(store, of)])
  const hasDollars = pools.some(({ quoteMint }) => isDollar(quoteMint))
  const solPrices = hasDollars
    ? await readSolPrices(store, times, solPriceMaxAgeSeconds)
    : new Map<number, bigint>()
  return new TokenPrices(pools, swaps, solPrices)
}

/** Prices of tokens, as of a time that moves forward. */
export class TokenPrices {
  readonly #pools: Steps<PoolStep>
  readonly #swaps: Steps<SwapStep>
  readonly #solPrices: ReadonlyMap<number, bigint>
  #time = 0

  constructor(
    pools: readonly PoolStep[],
    swaps: readonly SwapStep[],
    solPrices: ReadonlyMap<number, bigint>,
  ) {
    this.#pools = new Steps(pools)
    this.#swaps = new Steps(swaps)
    this.#solPrices = solPrices
  }

  /** Moves to one of the times that were read. Not back. */
  moveTo(time: number): void {
    this.#time = time
    this.#pools.moveTo(time)
    this.#swaps.moveTo(time)
  }

  /** Returns the price of a token at the time; null while none is known. */
  priceOf(mint: string): TokenPrice | null {
    const pool = this.#pools.newest.get(mint)
    const price = pool && poolPrice(pool, this.#solPrices.get(this.#time))
    if (price) return { price, source: 'pool', time: pool.at }
    const swap = this.#swaps.newest.get(mint)
    if (swap === undefined || swap.time <= this.#time - SWAP_SECONDS) return null
    return { price: swap.price, source: 'swap', time: swap.time }
  }
}

/** The newest row of each mint, as of a time that moves forward. */
class Steps<S extends { readonly mint: string; readonly point: number }> {
  readonly #steps: readonly S[]
  #next = 0
  readonly newest = new Map<string, S>()

  /** `steps`: by `point`. */
  constructor(steps: readonly S[]) {
    this.#steps = steps
  }

  moveTo(time: number): void {
    for (; ; this.#next++) {
      const step = this.#steps[this.#next]
      if (step === undefined || step.point > time) return
      this.newest.set(step.mint, step)
    }
  }
}

/** The newest pool state of a mint at `point`, one of the times. */
interface PoolStep {
  readonly mint: string
  readonly point: number
  readonly at: number
  /** Empty: the pool is not known. */
  readonly pool: string
  readonly quoteMint: string
  readonly quote: bigint
  readonly base: bigint
}

/** The newest swap of a mint at `point` that gives a price. */
interface SwapStep {
  readonly mint: string
  readonly point: number
  readonly time: number
  readonly price: Fraction
}

/** Lamports for one raw unit; null while that is not known. */
function poolPrice(step: PoolStep, solUsdE9: bigint | undefined): Fraction | null {
  const { pool, quoteMint, quote, base } = step
  if (pool === '' || base === 0n) return null
  if (quoteMint === WSOL) return fraction(quote, base)
  if (!isDollar(quoteMint) || !solUsdE9) return null
  return fraction(quote * 1_000_000_000_000n, base * solUsdE9)
}

/** The first of `times` at or after a time. `roundDown` takes negative numbers, so it rounds up. */
const pointOf = (time: string) => `-roundDown(-toInt64(${time}), {negated:Array(Int64)})`

const negatedTimes = (times: readonly number[]) => times.map((time) => -time).reverse()

async function readPools(store: Store, { mints, times }: TokenPricesOf): Promise<PoolStep[]> {
  const rows = await store.query<
    { readonly point: string; readonly at: number } & Record<
      'mint' | 'pool' | 'quote_mint' | 'price_quote' | 'price_base',
      string
    >
  >(NEWEST_POOLS, {
    mints,
    through: times.at(-1) ?? 0,
    negated: negatedTimes(times),
    limit: mints.length * times.length,
  })
  return rows.map((row) => ({
    mint: row.mint,
    point: Number(row.point),
    at: row.at,
    pool: row.pool,
    quoteMint: row.quote_mint,
    quote: BigInt(row.price_quote),
    base: BigInt(row.price_base),
  }))
}

/** Of several rows of one tick the one written last counts. */
const NEWEST_POOLS = `
  SELECT mint, point, newest.1 AS at, newest.2 AS pool, newest.3 AS quote_mint,
    toString(newest.4) AS price_quote, toString(newest.5) AS price_base
  FROM (
    SELECT mint, ${pointOf('at')} AS point,
      argMax((at, pool, quote_mint, price_quote, price_base), (at, inserted_at)) AS newest
    FROM pool_states WHERE mint IN {mints:Array(String)} AND at <= {through:UInt32}
    GROUP BY mint, point
  )
  ORDER BY point, mint LIMIT {limit:UInt32}
  SETTINGS preferred_optimize_projection_name = 'by_mint'`

async function readSwaps(store: Store, of: TokenPricesOf): Promise<SwapStep[]> {
  const { mints, wallet, times, stored, wasRedecoded, perturb } = of
  const rows = await store.query<
    { readonly point: string; readonly time: number } & EventKeyRow &
      Record<'mint' | 'amount' | 'value', string>
  >(newestSwaps(wallet !== null, wasRedecoded), {
    mints,
    stored,
    from: Math.max(0, (times[0] ?? 0) - SWAP_SECONDS),
    through: times.at(-1) ?? 0,
    negated: negatedTimes(times),
    limit: mints.length * times.length,
    ...(wallet !== null && { ofWallet: wallet }),
  })
  return rows.map((row) => ({
    mint: row.mint,
    point: Number(row.point),
    time: row.time - earlierBy(keyOf(row), perturb),
    price: fraction(BigInt(row.value), BigInt(row.amount)),
  }))
}

function earlierBy(key: EventKey, perturb: Perturb | null): number {
  return perturb?.(key).earlierSeconds ?? 0
}

function newestSwaps(isOfWallet: boolean, wasRedecoded: boolean): string {
  return `
  SELECT mint, point, newest.1 AS time, newest.2 AS slot, newest.3 AS tx_index,
    newest.4 AS wallet, newest.5 AS event_index, toString(newest.6) AS amount,
    toString(newest.7) AS value
  FROM (
    SELECT base_mint AS mint, ${pointOf('block_time')} AS point,
      argMax((block_time, ${EVENT_KEY}, base_amount, value_lamports), (block_time, ${EVENT_KEY})) AS newest
    FROM ${swapsOfMints('base_amount, value_lamports, confidence', wasRedecoded)}
      AND confidence = 'high' AND base_amount > 0 AND value_lamports IS NOT NULL
      ${isOfWallet ? 'AND wallet != {ofWallet:UInt32}' : ''}
    GROUP BY mint, point
  )
  ORDER BY point, mint LIMIT {limit:UInt32}
  SETTINGS preferred_optimize_projection_name = 'by_mint'`
}
