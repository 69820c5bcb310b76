import type { Perturb } from '../domain/perturbation.ts'
import type { PoolSnapshot } from '../domain/pool-snapshot.ts'
import type { SolPrice } from '../domain/slot.ts'
import { changeFrom, leave } from './changes.ts'
import { EventQueue } from './event-queue.ts'
import { EVICT_SECONDS, SOL_STEP_SECONDS } from './figures.ts'
import { replayHistory } from './replay-history.ts'
import { SolPriceSeries } from './sol-price-series.ts'
import { TokenBook, type TokenFacts } from './token-book.ts'
import { compareTimed, serveEvent, type TimedEvent, type TrendingEvent } from './trending-event.ts'
import {
  TICK_SECONDS,
  type WatchedToken,
  type WatchlistChange,
  type WatchlistStay,
  type WatchlistTick,
} from './watched-token.ts'

/** A tick and its changes. */
export interface ComputedTick extends WatchlistTick {
  /** Ordered by mint. */
  readonly changes: readonly WatchlistChange[]
}

/** Everything stored about a token up to the point to which events have been read. */
export interface TokenHistory {
  readonly mint: string
  /** In event-key order. */
  readonly events: readonly TrendingEvent[]
  readonly facts: TokenFacts | null
  /** In the order of `at`. The snapshots of the last hour and the one before them are enough. */
  readonly pools: readonly PoolSnapshot[]
}

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
  /** Tokens to compute, by tick. */
  readonly #due = new Map<number, Set<TokenBook>>()
  /** Tokens to compute at the next tick. */
  #touched = new Set<TokenBook>()
  readonly #listed = new Map<string, WatchedToken>()
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
    return this.#listed.get(mint) ?? null
  }

  /** Tokens in memory with an event of one of the wallets. */
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
    this.#waiting.add(registered.slice(counting.length))
    if (known?.written) this.#resume(book, known.written)
    this.#touched.add(book)
  }

  /**
   * Sets the last written snapshot of a listed token, as another process wrote it before the first
   * tick. Call it after `load`.
   */
  restore(token: WatchedToken): void {
    const book = this.#books.get(token.mint) ?? new TokenBook(token.mint)
    this.#books.set(token.mint, book)
    this.#resume(book, token)
    this.#touched.add(book)
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
    if (book === undefined) return
    const { supply, symbol, name } = book.facts
    if (supply === facts.supply && symbol === facts.symbol && name === facts.name) return
    book.setFacts(facts)
    this.#touched.add(book)
  }

  /** Adds pool snapshots, in the order of `at`. */
  addPools(snapshots: readonly PoolSnapshot[]): void {
    for (const snapshot of snapshots) {
      const book = this.#books.get(snapshot.mint)
      if (book === undefined) continue
      book.addPool(snapshot)
      this.#touched.add(book)
    }
  }

  /** Pools of the newest swaps of the listed tokens, by conviction, highest first. */
  pools(): { readonly mint: string; readonly pool: string }[] {
    return [...this.#listed.values()]
      .sort((a, b) => b.conviction - a.conviction || (a.mint < b.mint ? -1 : 1))
      .flatMap(({ mint }) => {
        const pool = this.#books.get(mint)?.pool ?? null
        return pool === null ? [] : [{ mint, pool }]
      })
  }

  /**
   * Computes the next tick. All stored rows of the time up to it must have been added. Throws a
   * RangeError for any other tick.
   */
  tick(at: number): ComputedTick {
    if (at !== this.#at + TICK_SECONDS)
      throw new RangeError(`not the tick after ${this.#at}: ${at}`)
    this.#at = at
    const due = this.#touched
    this.#touched = new Set()
    this.#bookUntil(at, due)
    for (const book of this.#due.get(at) ?? []) if (book.dueAt === at) due.add(book)
    this.#due.delete(at)
    if (at % SOL_STEP_SECONDS === 0)
      for (const mint of this.#listed.keys()) {
        const book = this.#books.get(mint)
        if (book !== undefined) due.add(book)
      }
    const changes: WatchlistChange[] = []
    const left: WatchlistStay[] = []
    for (const book of due) {
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

  /** Books the events that count by `at`, and adds their tokens to `due`. */
  #bookUntil(at: number, due: Set<TokenBook>): void {
    this.#waiting.takeUntil(at, (timed) => {
      const book = this.#books.get(timed.event.mint)
      if (book === undefined) return
      book.book(timed)
      due.add(book)
    })
  }

  /** Computes the changes of one token, and schedules its next computation. */
  #compute(book: TokenBook, at: number, changes: WatchlistChange[], left: WatchlistStay[]): void {
    const { written, mint } = book
    book.updateStay(at)
    const { enteredAt } = book
    if (written !== null && enteredAt !== written.enteredAt)
      left.push({ mint, entry: written.enteredAt })
    if (enteredAt !== null) {
      const token = book.figures(at, enteredAt, this.#prices.at)
      const change = changeFrom(written, token)
      if (change !== null) {
        changes.push(change)
        book.written = token
        this.#listed.set(mint, token)
      }
    } else if (written !== null) {
      const isEmpty = book.lastTradeAt === 0 // its events are no longer stored
      const token = isEmpty
        ? { ...written, at }
        : book.figures(at, written.enteredAt, this.#prices.at)
      changes.push(leave(token))
      book.written = null
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

  /**
   * Continues from the last written snapshot. A written stay keeps its time of entry, whatever
   * arrived late.
   */
  #resume(book: TokenBook, written: WatchedToken): void {
    book.written = written
    this.#listed.set(book.mint, written)
    if (book.enteredAt !== null && book.enteredAt <= written.at) book.enteredAt = written.enteredAt
  }
}

/** Returns an empty engine. */
export function createEngine(options: EngineOptions): TrendingEngine {
  return new TrendingEngine(options)
}
