import type { Perturb } from '../domain/perturbation.ts'
import type { PoolSnapshot } from '../domain/pool-snapshot.ts'
import type { SolPrice } from '../domain/slot.ts'
import { changeFrom, leave } from './changes.ts'
import { EventQueue } from './event-queue.ts'
import { EVICT_SECONDS, SOL_STEP_SECONDS } from './figures.ts'
import { replayHistory, type TokenHistory } from './replay-history.ts'
import { roundFigures } from './round-figures.ts'
import { SolPriceSeries } from './sol-price-series.ts'
import { TickSchedule } from './tick-schedule.ts'
import { TokenBook, type TokenFacts } from './token-book.ts'
import { compareTimed, serveEvent, type TimedEvent, type TrendingEvent } from './trending-event.ts'
import {
  type ComputedTick,
  type ExactToken,
  type Listing,
  TICK_SECONDS,
  type WatchedToken,
  type WatchlistChange,
} from './watched-token.ts'

/** Options of a trending engine. */
export interface EngineOptions {
  /** The first tick to compute. */
  readonly from: number
  /** `SOL_PRICE_MAX_AGE_SECONDS`. */
  readonly solPriceMaxAgeSeconds: number
  /** Perturbation of `PRIVACY_SALT` (rule I2); null: events are served as they happened. */
  readonly perturb: Perturb | null
}

/**
 * The trending engine (rules G1 to G4): takes stored rows and returns the watchlist at each tick.
 *
 * It keeps every token with a tracked trade within the last 24 hours. At a tick it computes only
 * tokens that can have changed.
 *
 * A tick is a function of the rows up to its time. The time at which a token entered the list
 * follows from the token's own events, so an engine that starts later gives the same. The only
 * other input is what was written before its first tick (`restore`).
 */
export class TrendingEngine {
  readonly #perturb: Perturb | null
  readonly #books = new Map<string, TokenBook>()
  readonly #prices: SolPriceSeries
  /** Events that do not count yet. */
  readonly #waiting = new EventQueue()
  readonly #schedule = new TickSchedule()
  /** Last written snapshots of listed tokens. */
  readonly #written = new Map<string, WatchedToken>()
  /** Listed tokens as of the tick at which each was last computed. */
  readonly #listed = new Map<string, ExactToken>()
  #at: number

  constructor({ from, solPriceMaxAgeSeconds, perturb }: EngineOptions) {
    if (from % TICK_SECONDS !== 0) throw new RangeError(`not a tick: ${from}`)
    this.#at = from - TICK_SECONDS
    this.#perturb = perturb
    this.#prices = new SolPriceSeries(solPriceMaxAgeSeconds)
  }

  /** The newest computed tick. */
  get at(): number {
    return this.#at
  }

  /** Number of tokens in memory. */
  get size(): number {
    return this.#books.size
  }

  /** Whether a token is in memory. */
  knows(mint: string): boolean {
    return this.#books.has(mint)
  }

  /** The last written snapshot of a listed token; null when it is not on the list. */
  writtenOf(mint: string): WatchedToken | null {
    return this.#written.get(mint) ?? null
  }

  /** Tokens in memory with an event of one of the wallets. */
  mintsOf(wallets: ReadonlySet<number>): string[] {
    const books = [...this.#books.values()]
    return books.filter((book) => book.hasAnyOf(wallets)).map(({ mint }) => mint)
  }

  /** Adds prices of SOL, in the order of their times. */
  addPrices(prices: readonly SolPrice[]): void {
    for (const price of prices) this.#prices.add(price)
  }

  /**
   * Replaces everything known about a token by its stored history. The last written snapshot stays.
   */
  load({ mint, events, facts, pools }: TokenHistory): void {
    const known = this.#books.get(mint)
    if (known !== undefined && known.waiting > 0) this.#waiting.removeMint(mint)
    const book = new TokenBook(mint)
    if (facts !== null) book.setFacts(facts)
    for (const snapshot of pools) book.addPool(snapshot)
    this.#books.set(mint, book)
    const registered = events.map((event) => this.#register(book, event)).sort(compareTimed)
    const counting = registered.filter(({ time }) => time <= this.#at)
    replayHistory(book, counting, this.#at)
    book.pack()
    this.#waiting.add(registered.slice(counting.length))
    const written = this.writtenOf(mint)
    if (written !== null) this.#resume(book, written)
    this.#schedule.touch(book)
  }

  /**
   * Sets the last written snapshot of a listed token, as another process wrote it before the first
   * tick. Call it after `load`.
   */
  restore(token: WatchedToken): void {
    const book = this.#books.get(token.mint) ?? new TokenBook(token.mint)
    this.#books.set(token.mint, book)
    this.#resume(book, token)
    this.#schedule.touch(book)
  }

  /** Adds events in event-key order. Events of unknown tokens are ignored. */
  add(events: readonly TrendingEvent[]): void {
    const registered: TimedEvent[] = []
    for (const event of events) {
      const book = this.#books.get(event.mint)
      if (book !== undefined) registered.push(this.#register(book, event))
    }
    this.#waiting.add(registered)
  }

  /** Sets the mint facts of a token. Ignores unknown tokens and equal facts. */
  setFacts(mint: string, facts: TokenFacts): void {
    const book = this.#books.get(mint)
    if (book?.setFacts(facts)) this.#schedule.touch(book)
  }

  /** Adds pool snapshots, in the order of `at`. */
  addPools(snapshots: readonly PoolSnapshot[]): void {
    for (const snapshot of snapshots) {
      const book = this.#books.get(snapshot.mint)
      if (book === undefined) continue
      book.addPool(snapshot)
      this.#schedule.touch(book)
    }
  }

  /** Pools of the newest swaps of the listed tokens with most conviction, highest first. */
  pools(most: number): { readonly mint: string; readonly pool: string }[] {
    const found: { token: WatchedToken; pool: string }[] = []
    for (const token of this.#written.values()) {
      const pool = this.#books.get(token.mint)?.pool ?? null
      if (pool !== null) found.push({ token, pool })
    }
    // Of very many tokens only those are sorted that can be among the first.
    const least = Float64Array.from(found, ({ token }) => -token.conviction).sort()[most - 1]
    const first = found.filter(({ token }) => least === undefined || -token.conviction <= least)
    first.sort(
      ({ token: a }, { token: b }) => b.conviction - a.conviction || (a.mint < b.mint ? -1 : 1),
    )
    return first.slice(0, most).map(({ token, pool }) => ({ mint: token.mint, pool }))
  }

  /**
   * Computes the next tick. All stored rows of the time up to it must have been added. Throws a
   * RangeError for any other tick.
   */
  tick(at: number): ComputedTick {
    if (at !== this.#at + TICK_SECONDS)
      throw new RangeError(`not the tick after ${this.#at}: ${at}`)
    this.#at = at
    this.#bookUntil(at)
    if (at % SOL_STEP_SECONDS === 0)
      for (const book of this.#books.values())
        if (book.enteredAt !== null) this.#schedule.touch(book)
    const changes: WatchlistChange[] = []
    const left: Listing[] = []
    for (const book of this.#schedule.take(at)) {
      if (this.#books.get(book.mint) !== book) continue
      this.#compute(book, at, changes, left)
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

  #register(book: TokenBook, event: TrendingEvent): TimedEvent {
    const served = serveEvent(event, this.#perturb)
    return { time: book.register(served), event: served }
  }

  /** Books the events that count by `at`. Their tokens are computed at the next tick. */
  #bookUntil(at: number): void {
    this.#waiting.takeUntil(at, (timed) => {
      const book = this.#books.get(timed.event.mint)
      if (book === undefined) return
      book.book(timed)
      this.#schedule.touch(book)
    })
  }

  /** Computes the changes of one token, and schedules its next computation. */
  #compute(book: TokenBook, at: number, changes: WatchlistChange[], left: Listing[]): void {
    const { mint } = book
    const written = this.writtenOf(mint)
    book.updateListing(at)
    const { enteredAt } = book
    if (written !== null && enteredAt !== written.enteredAt)
      left.push({ mint, entry: written.enteredAt })
    if (enteredAt !== null) {
      const token = book.figures(at, enteredAt, this.#prices.at)
      this.#listed.set(mint, token)
      const change = changeFrom(written, roundFigures(token))
      if (change !== null) {
        changes.push(change)
        this.#written.set(mint, change.token)
      }
    } else if (written !== null) {
      const isEmpty = book.lastTradeAt === 0 // its events are no longer stored
      const token = isEmpty
        ? { ...written, at }
        : roundFigures(book.figures(at, written.enteredAt, this.#prices.at))
      changes.push(leave(token))
      this.#written.delete(mint)
      this.#listed.delete(mint)
    }
    if (enteredAt === null && book.waiting === 0 && at - book.lastTradeAt >= EVICT_SECONDS) {
      this.#books.delete(mint)
      return
    }
    book.pack()
    this.#schedule.schedule(book, book.nextDue(at))
  }

  /**
   * Continues from the last written snapshot. A written listing keeps its time of entry, whatever
   * arrived late.
   */
  #resume(book: TokenBook, written: WatchedToken): void {
    this.#written.set(book.mint, written)
    if (book.enteredAt !== null && book.enteredAt <= written.at) book.enteredAt = written.enteredAt
  }
}

/** Returns an empty engine. */
export function createEngine(options: EngineOptions): TrendingEngine {
  return new TrendingEngine(options)
}
