import { isDeepStrictEqual } from 'node:util'
import pMap from 'p-map'
import type { Address } from '../../pipeline/domain/address.ts'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { Swap, WalletEvent } from '../../pipeline/domain/event.ts'
import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import { batches } from '../../pipeline/runtime/batches.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { slowEvent } from '../../pipeline/testing/slow-events.ts'
import { type SlowPriceInputs, slowTokenPrice } from '../../pipeline/testing/slow-prices.ts'
import type { PriceAt } from '../../pipeline/testing/slow-profit.ts'
import { type SlowRow, slowMetricsRow } from '../../pipeline/testing/slow-tables.ts'
import { groupByMint } from '../../pipeline/workers/trending/trending-reader.ts'
import { createRandom } from '../simulator/random.ts'
import type { Customer } from '../whole-service/customer.ts'
import { type Difference, REST } from './compare.ts'
import { askCustomer, compareAnswers, withoutTime } from './compare-answers.ts'
import {
  byActivity,
  type FactsByMint,
  type Item,
  isHeld,
  oneAnswer,
  type SlowAnswer,
  slowSwap,
  type Traded,
  tradedOf,
  tradesAnswer,
} from './slow-answer.ts'
import { byHolders, type HeldToken, heldToken } from './slow-answers.ts'
import { LEADERBOARDS, leaderboardAnswer, type Ranked } from './slow-leaderboards.ts'
import { slowTokenAnswers } from './slow-token-answers.ts'
import { holding, metricsItem, slowWalletAnswers } from './slow-wallet-answers.ts'
import {
  readLastSwaps,
  readMintFacts,
  readPools,
  readSolSeries,
  readSwapsOfMints,
  readWalletHistories,
} from './stored-history.ts'

/** A service that stores nothing new, and how much of it is compared. */
export interface SampleOptions {
  readonly store: Store
  readonly customer: Customer
  /** Tracked wallets. */
  readonly wallets: number
  /** Wallets of the sample; a twentieth as many tokens. */
  readonly size: number
  readonly seed: number
  /** Block time of the newest stored slot. */
  readonly now: number
  readonly solPriceMaxAgeSeconds: number
  /** Told now and then how many wallets are compared. */
  readonly tell?: (wallets: number) => void
}

/** How many answers were compared, and those that differ. */
export interface SampleResult {
  readonly answers: number
  readonly differences: readonly Difference[]
}

const WALLETS_PER_READ = 20
const WALLETS_AT_ONCE = 4
const TOKENS_PER_WALLET = 1 / 20
/** The oldest price that an answer needs: of a day before the 30 days of `/pnl`. */
const PRICE_SECONDS = 32 * 86_400
const WALLETS_PER_PAGE = 25
const NEWEST_TRADES = 100

/**
 * Compares REST with the slow reference over what is stored: every resource of a random sample of
 * wallets and tokens, and the first page of each list. That page must have the first of the wallets
 * or tokens that it shows and of the sample, in order. Nothing may be stored meanwhile.
 */
export async function compareSample(options: SampleOptions): Promise<SampleResult> {
  const { store, wallets, size, seed } = options
  const random = createRandom(seed, 'sample')
  const numbers = new Set<number>()
  while (numbers.size < Math.min(size, wallets)) numbers.add(1 + random.below(wallets))
  const mints = await store.query<{ mint: Address }>(
    `SELECT mint FROM (SELECT DISTINCT mint FROM positions)
     ORDER BY cityHash64(mint, {seed:UInt32}) LIMIT {count:UInt32}`,
    { seed, count: Math.ceil(size * TOKENS_PER_WALLET) },
  )
  const comparison = new SampleComparison(options, await readSolSeries(store))
  await comparison.compareWallets([...numbers])
  for (const { mint } of mints) await comparison.compareToken(mint)
  await comparison.compareLists()
  const { answers, differences } = comparison
  return { answers, differences }
}

/** A wallet of the sample, or of a list. */
interface SampledWallet extends Ranked {
  readonly stored: readonly WalletEvent[]
  readonly metrics: SlowRow
  readonly traded: readonly Traded[]
}

class SampleComparison {
  answers = 0
  readonly differences: Difference[] = []
  readonly #options: SampleOptions
  readonly #solPrices: SlowPriceInputs['solPrices']
  /** The sample, and what stands in lists beside it. */
  readonly #wallets = new Map<number, SampledWallet>()
  readonly #tokens = new Map<string, HeldToken | null>()

  constructor(options: SampleOptions, solPrices: SlowPriceInputs['solPrices']) {
    this.#options = options
    this.#solPrices = solPrices
  }

  async compareWallets(numbers: readonly number[]): Promise<void> {
    const { store, now, tell } = this.#options
    for (const some of batches(numbers, WALLETS_PER_READ)) {
      const wallets = await this.#read(some)
      const mints = mintsOf(wallets)
      const facts = await readMintFacts(store, mints)
      const swaps = await readSwapsOfMints(store, mints, now - PRICE_SECONDS)
      const prices = await this.#readPrices(mints, swaps)
      await pMap(wallets, (wallet) => this.#compareWallet(wallet, facts, prices), {
        concurrency: WALLETS_AT_ONCE,
      })
      tell?.(this.#wallets.size)
    }
  }

  async compareToken(mint: Address): Promise<void> {
    const { store, now } = this.#options
    const swaps = await this.#readToken(mint)
    const facts = await readMintFacts(store, [mint])
    const prices = (await this.#readPrices([mint], swaps))(mint)
    await this.#compare(slowTokenAnswers(mint, { swaps, prices, facts, now }))
    const { symbol = '', name = '' } = facts.get(mint) ?? {}
    const token = { address: mint, symbol: symbol || null, name: name || null }
    const holders = this.#tokens.get(mint)?.count ?? 0
    const hit = { kind: 'token', wallet: null, token, holders, match: 'exact' }
    await this.#compare([oneAnswer(`/search?q=${mint}`, { items: [hit] })])
  }

  async compareLists(): Promise<void> {
    const { store, now } = this.#options
    for (const board of LEADERBOARDS)
      await this.#compareFirst(`/wallets?${board.query}`, async (shown) => {
        await this.#read(shown.map((item) => numberOf((item.identity as Item).wallet)))
        return leaderboardAnswer(board, [...this.#wallets.values()], now).items
      })
    await this.#compareFirst('/wallets/holdings', async (shown) => {
      await this.#read(shown.map(({ wallet }) => numberOf(wallet)))
      return [...this.#wallets.values()]
        .flatMap(({ traded }) => traded.filter(isHeld))
        .sort(byActivity)
        .map((position) => holding(position, now))
    })
    for (const least of [1, 2, 3])
      await this.#compareFirst(`/tokens/held?min_wallets=${least}`, async (shown) => {
        for (const { token } of shown) await this.#readToken((token as Item).address as Address)
        return [...this.#tokens.values()]
          .flatMap((token) => (token !== null && token.count >= least ? [token] : []))
          .sort(byHolders)
          .map(({ item }) => item)
      })
    await this.#compareFirst(`/trades?limit=${NEWEST_TRADES}`, async () => {
      const swaps = await readLastSwaps(store, NEWEST_TRADES)
      const facts = await readMintFacts(store, [...new Set(swaps.map(({ baseMint }) => baseMint))])
      return tradesAnswer('', swaps, facts).items
    })
  }

  async #compareWallet(
    { wallet, item, stored: events, metrics }: SampledWallet,
    facts: FactsByMint,
    prices: (mint: string) => SlowPriceInputs,
  ): Promise<void> {
    const { customer, now } = this.#options
    const priceAt = once((mint, time) => slowTokenPrice(prices(mint), mint, wallet, time))
    await this.#compare(slowWalletAnswers(wallet, { events, metrics, facts, now, priceAt }))
    const place = (wallet - 1) % WALLETS_PER_PAGE
    const page = (wallet - 1 - place) / WALLETS_PER_PAGE + 1
    const path = `/wallets?page=${page}`
    this.#note(path, [item], [(await itemsOf(customer, path))[place] ?? {}])
    const hit = { kind: 'wallet', wallet: aliasOf(wallet), token: null, holders: null }
    const search = `/search?q=${aliasOf(wallet)}`
    const [found = {}] = await itemsOf(customer, search)
    this.#note(search, [{ ...hit, match: 'exact' }], [found])
  }

  /** Compares the first page of a list with the first of what `expect` makes of its items. */
  async #compareFirst(
    path: string,
    expect: (shown: readonly Item[]) => Promise<readonly Item[]>,
  ): Promise<void> {
    const shown = await itemsOf(this.#options.customer, path)
    // Without items there must be none in the sample either.
    this.#note(path, (await expect(shown)).slice(0, Math.max(1, shown.length)), shown)
  }

  async #compare(answers: readonly SlowAnswer[]): Promise<void> {
    this.answers += answers.length
    this.differences.push(...(await compareAnswers(this.#options.customer, answers)))
  }

  #note(path: string, expected: readonly Item[], found: readonly Item[]): void {
    this.answers += 1
    if (isDeepStrictEqual(expected, found)) return
    const at = expected.findIndex((item, place) => !isDeepStrictEqual(item, found[place]))
    const of = (items: readonly Item[]) => ({ path, answer: { [at]: items[at] ?? null } })
    this.differences.push({ table: REST, expected: of(expected), stored: of(found) })
  }

  /** Reads wallets of which nothing was read yet. Returns those. */
  async #read(numbers: readonly number[]): Promise<SampledWallet[]> {
    const unread = [...new Set(numbers)].filter((number) => !this.#wallets.has(number))
    const histories = await readWalletHistories(this.#options.store, unread)
    return [...histories].map(([wallet, history]) => {
      const events = [...history.events].sort(compareEventKeys)
      const swaps = events.flatMap((event) => (event.kind === 'swap' ? [event] : []))
      const mints = [...new Set(swaps.map(({ baseMint }) => baseMint))]
      const metrics = slowMetricsRow(wallet, events, history.balances)
      const read: SampledWallet = {
        wallet,
        stored: events,
        metrics,
        item: metricsItem(metrics),
        events: events.map(slowEvent),
        traded: mints.flatMap((mint) => tradedOf(wallet, mint, swaps) ?? []),
      }
      this.#wallets.set(wallet, read)
      return read
    })
  }

  /** Reads the swaps of a mint, and notes who holds it. */
  async #readToken(mint: Address): Promise<Swap[]> {
    const swaps = await readSwapsOfMints(this.#options.store, [mint])
    const wallets = [...new Set(swaps.map(({ wallet }) => wallet))]
    const traded = wallets.flatMap((wallet) => tradedOf(wallet, mint, swaps) ?? [])
    this.#tokens.set(mint, heldToken(traded.filter(isHeld)))
    return swaps
  }

  /**
   * Reads what prices of mints follow from besides their swaps. The returned function gives that of
   * one of them.
   */
  async #readPrices(
    mints: readonly string[],
    swaps: readonly Swap[],
  ): Promise<(mint: string) => SlowPriceInputs> {
    const { store, solPriceMaxAgeSeconds } = this.#options
    const swapsOf = groupByMint(swaps.map(slowSwap))
    const poolsOf = groupByMint(await readPools(store, mints))
    return (mint) => ({
      swaps: swapsOf.get(mint) ?? [],
      pools: poolsOf.get(mint) ?? [],
      solPrices: this.#solPrices,
      solPriceMaxAgeSeconds,
    })
  }
}

function mintsOf(wallets: readonly SampledWallet[]): string[] {
  const mints = wallets.flatMap(({ events }) => events.map(({ mint }) => mint))
  return [...new Set(mints)].filter((mint) => mint !== '')
}

/** The same prices, each looked for once. */
function once(find: PriceAt): PriceAt {
  const found = new Map<string, ReturnType<PriceAt>>()
  return (mint, time) => {
    const key = `${mint}/${time}`
    const known = found.get(key)
    if (known !== undefined) return known
    const price = find(mint, time)
    found.set(key, price)
    return price
  }
}

function numberOf(alias: unknown): number {
  return Number(String(alias).slice(1))
}

async function itemsOf(customer: Customer, path: string): Promise<Item[]> {
  return withoutTime((await askCustomer(customer, path)).items) as Item[] // as the documents say
}
