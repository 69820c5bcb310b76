import type { Perturb } from '../domain/perturbation.ts'
import { isSame, reasonsOfChange, reasonsToEnter, reasonsToLeave } from './changes.ts'
import { EVICT_SECONDS, type PoolPicture, SOL_STEP_SECONDS } from './figures.ts'
import { SolPriceSeries, type TimedSolPrice } from './sol-price-series.ts'
import { type MintFacts, TokenBook, tickOf } from './token-book.ts'
import { compareTimed, serveEvent, type TimedEvent, type TrendingEvent } from './trending-event.ts'
import {
  type Stay,
  TICK_SECONDS,
  type WatchedToken,
  type WatchlistChange,
  type WatchlistTick,
} from './watched-token.ts'

/** A tick and what it changed. */
export interface ComputedTick extends WatchlistTick {
  /** By mint. */
  readonly changes: readonly WatchlistChange[]
}

/** Everything that is stored of a token up to the place to which events have been read. */
export interface TokenHistory {
  readonly mint: string
  /** In event-key order. */
  readonly events: readonly TrendingEvent[]
  readonly facts: MintFacts | null
  /** In the order of `at`; those of the last hour and the one before them are enough. */
  readonly pools: readonly PoolPicture[]
}

export interface EngineOptions {
  /** The first tick that will be computed. */
  readonly from: number
  /** `SOL_PRICE_MAX_AGE_SECONDS`. */
  readonly solPriceMaxAgeSeconds: number
  /** `PRIVACY_SALT` (rule I2); null: what is served is what happened. */
  readonly perturb: Perturb | null
}

/**
 * The trending engine (rules G1 to G4): stored rows in, the watchlist at each tick out. Holds what is needed of every token with a tracked trade within
 * the last 24 hours, and looks at a tick only at tokens of which something can have changed.
 *
 * What it says of a tick is a function of what it was given of the time up to then: when a token came to the list follows from the token's own events, so a run
 * that begins later says the same. What it was `told` before is all that it needs to know of what is written.
 */
export class TrendingEngine {
  readonly #perturb: Perturb | null
  readonly #books = new Map<string, TokenBook>()
  readonly #prices: SolPriceSeries
  /** What is known and does not count yet, from place `#next` on. */
  #waiting: TimedEvent[] = []
  #next = 0
  #isSorted = true
  /** Tokens to be looked at, by tick. */
  readonly #due = new Map<number, Set<TokenBook>>()
  /** Tokens to be looked at with the next tick. */
  #touched = new Set<TokenBook>()
  readonly #listed = new Map<string, WatchedToken>()
  #at: number

  constructor({ from, solPriceMaxAgeSeconds, perturb }: EngineOptions) {
    if (from % TICK_SECONDS !== 0) throw new RangeError(`not a tick: ${from}`)
    this.#at = from - TICK_SECONDS
    this.#perturb = perturb
    this.#prices = new SolPriceSeries(solPriceMaxAgeSeconds)
  }

  /** The newest tick that is computed. */
  get at(): number {
    return this.#at
  }

  /** Tokens in memory. */
  get size(): number {
    return this.#books.size
  }

  knows(mint: string): boolean {
    return this.#books.has(mint)
  }

  /** What was told of a token last; null when it is not on the list. */
  toldOf(mint: string): WatchedToken | null {
    return this.#listed.get(mint) ?? null
  }

  /** Tokens in memory that one of the wallets has an event of. */
  mintsOf(wallets: ReadonlySet<number>): string[] {
    const found: string[] = []
    for (const [mint, book] of this.#books)
      for (const wallet of wallets)
        if (book.hasWallet(wallet)) {
          found.push(mint)
          break
        }
    return found
  }

  addPrices(prices: readonly TimedSolPrice[]): void {
    for (const price of prices) this.#prices.add(price)
  }

  /** Takes everything that is stored of a token in place of what was known. What was told of it stays told. */
  load({ mint, events, facts, pools }: TokenHistory): void {
    const known = this.#books.get(mint)
    if (known !== undefined && known.waiting > 0) {
      this.#waiting = this.#waiting.slice(this.#next).filter(({ event }) => event.mint !== mint)
      this.#next = 0
    }
    const book = new TokenBook(mint)
    if (facts !== null) book.setFacts(facts)
    for (const picture of pools) book.addPool(picture)
    this.#books.set(mint, book)
    const noted = events.map((event) => this.#note(book, event)).sort(compareTimed)
    const counting = noted.filter(({ time }) => time <= this.#at)
    replay(book, counting, this.#at)
    this.#await(noted.slice(counting.length))
    if (known?.told) this.#resume(book, known.told)
    this.#touched.add(book)
  }

  /** Says what was written of a listed token last, by whoever computed the tick before the first one. Comes after `load`. */
  tell(token: WatchedToken): void {
    const book = this.#books.get(token.mint) ?? new TokenBook(token.mint)
    this.#books.set(token.mint, book)
    this.#resume(book, token)
    this.#touched.add(book)
  }

  /** Takes events in event-key order; those of tokens that it does not know are passed by. */
  add(events: readonly TrendingEvent[]): void {
    const noted: TimedEvent[] = []
    for (const event of events) {
      const book = this.#books.get(event.mint)
      if (book !== undefined) noted.push(this.#note(book, event))
    }
    this.#await(noted)
  }

  setFacts(mint: string, facts: MintFacts): void {
    const book = this.#books.get(mint)
    if (book === undefined) return
    const { supply, symbol, name } = book.facts
    if (supply === facts.supply && symbol === facts.symbol && name === facts.name) return
    book.setFacts(facts)
    this.#touched.add(book)
  }

  /** Takes what pools held from a tick on; in the order of `at`. */
  addPools(pictures: readonly PoolPicture[]): void {
    for (const picture of pictures) {
      const book = this.#books.get(picture.mint)
      if (book === undefined) continue
      book.addPool(picture)
      this.#touched.add(book)
    }
  }

  /** Pools of the listed tokens' newest swaps, by conviction. */
  pools(): { readonly mint: string; readonly pool: string }[] {
    return [...this.#listed.values()]
      .sort((a, b) => b.conviction - a.conviction || (a.mint < b.mint ? -1 : 1))
      .flatMap(({ mint }) => {
        const pool = this.#books.get(mint)?.pool ?? null
        return pool === null ? [] : [{ mint, pool }]
      })
  }

  /** Computes the next tick: everything that is stored of the time up to it has been added. */
  tick(at: number): ComputedTick {
    if (at !== this.#at + TICK_SECONDS)
      throw new RangeError(`not the tick after ${this.#at}: ${at}`)
    this.#at = at
    const looked = this.#touched
    this.#touched = new Set()
    this.#bookUntil(at, looked)
    for (const book of this.#due.get(at) ?? []) if (book.dueAt === at) looked.add(book)
    this.#due.delete(at)
    if (at % SOL_STEP_SECONDS === 0)
      for (const mint of this.#listed.keys()) {
        const book = this.#books.get(mint)
        if (book !== undefined) looked.add(book)
      }
    const changes: WatchlistChange[] = []
    const left: Stay[] = []
    for (const book of looked) {
      if (this.#books.get(book.mint) !== book) continue
      this.#look(book, at, changes, left)
    }
    this.#prices.forgetBefore(at - 2 * SOL_STEP_SECONDS - 3600)
    changes.sort((a, b) => (a.token.mint < b.token.mint ? -1 : 1))
    return {
      at,
      changes,
      listed: [...this.#listed.values()],
      left,
      mcapOf: (mint) => this.#books.get(mint)?.mcapAt(this.#at, this.#prices.at) ?? null,
    }
  }

  #note(book: TokenBook, event: TrendingEvent): TimedEvent {
    const served = serveEvent(event, this.#perturb)
    return { time: book.note(served), event: served }
  }

  #await(events: readonly TimedEvent[]): void {
    for (const timed of events) {
      const last = this.#waiting.at(-1)
      if (last !== undefined && compareTimed(last, timed) > 0) this.#isSorted = false
      this.#waiting.push(timed)
    }
  }

  /** Books what counts by `at`. */
  #bookUntil(at: number, looked: Set<TokenBook>): void {
    if (!this.#isSorted) {
      this.#waiting = this.#waiting.slice(this.#next).sort(compareTimed)
      this.#next = 0
      this.#isSorted = true
    }
    for (; ; this.#next++) {
      const timed = this.#waiting[this.#next]
      if (timed === undefined || timed.time > at) break
      const book = this.#books.get(timed.event.mint)
      if (book === undefined) continue
      book.book(timed)
      looked.add(book)
    }
    if (this.#next < 1000 || this.#next * 2 < this.#waiting.length) return
    this.#waiting = this.#waiting.slice(this.#next)
    this.#next = 0
  }

  /** What became of one token, and when it is to be looked at next. */
  #look(book: TokenBook, at: number, changes: WatchlistChange[], left: Stay[]): void {
    const { told, mint } = book
    book.updateStay(at)
    const { enteredAt } = book
    if (told !== null && enteredAt !== told.enteredAt) left.push({ mint, entry: told.enteredAt })
    if (enteredAt !== null) {
      const token = book.figures(at, enteredAt, this.#prices.at)
      if (told === null || told.enteredAt !== enteredAt)
        changes.push({ event: 'entered', token, reasons: reasonsToEnter(token) })
      else if (!isSame(told, token))
        changes.push({ event: 'changed', token, reasons: reasonsOfChange(told, token) })
      if (told === null || !isSame(told, token)) {
        book.told = token
        this.#listed.set(mint, token)
      }
    } else if (told !== null) {
      const isEmpty = book.lastTradeAt === 0 // what led to it is stored no more
      const token = isEmpty ? { ...told, at } : book.figures(at, told.enteredAt, this.#prices.at)
      changes.push({ event: 'left', token, reasons: reasonsToLeave(token) })
      book.told = null
      this.#listed.delete(mint)
    }
    if (enteredAt === null && book.waiting === 0 && at - book.lastTradeAt >= EVICT_SECONDS) {
      this.#books.delete(mint)
      return
    }
    this.#schedule(book, book.nextDue(at))
  }

  #schedule(book: TokenBook, due: number): void {
    book.dueAt = due
    if (due === Number.POSITIVE_INFINITY) return
    const books = this.#due.get(due)
    if (books === undefined) this.#due.set(due, new Set([book]))
    else books.add(book)
  }

  /** Goes on where what is written ends: a stay that was told of keeps its entry, whatever came late. */
  #resume(book: TokenBook, told: WatchedToken): void {
    book.told = told
    this.#listed.set(book.mint, told)
    if (book.enteredAt !== null && book.enteredAt <= told.at) book.enteredAt = told.enteredAt
  }
}

/** Books a history and follows the token's stays through the ticks at which they can change: those after swaps, and the end of 24 hours without one. */
function replay(book: TokenBook, events: readonly TimedEvent[], at: number): void {
  let next = 0
  while (next < events.length) {
    const tick = tickOf(events[next]?.time ?? 0)
    const end = tickOf(book.lastTradeAt + EVICT_SECONDS)
    if (book.lastTradeAt > 0 && end < tick) book.updateStay(end)
    for (; next < events.length; next++) {
      const timed = events[next]
      if (timed === undefined || tickOf(timed.time) !== tick) break
      book.book(timed)
    }
    book.updateStay(tick)
  }
  if (book.lastTradeAt > 0) {
    const end = tickOf(book.lastTradeAt + EVICT_SECONDS)
    if (end <= at) book.updateStay(end)
  }
}

/** Makes an engine that knows nothing yet. */
export function createEngine(options: EngineOptions): TrendingEngine {
  return new TrendingEngine(options)
}
