import { LAMPORTS_PER_SOL } from '../domain/amount.ts'
import { type Fraction, fraction } from '../domain/fraction.ts'
import type { PoolSnapshot } from '../domain/pool-snapshot.ts'
import {
  convictionOf,
  DISCOVERED_SECONDS,
  EVICT_SECONDS,
  HOLDERS_TO_ENTER,
  HOUR_SECONDS,
  liquidityOf,
  mcapOfPool,
  mcapOfSwap,
  momentumOf,
  multipleOf,
  NEAR_EVICT_SECONDS,
  type SolPriceAt,
  type SwapPrice,
  watchStateOf,
} from './figures.ts'
import { bookEvent, isHolding } from './holder.ts'
import { type HolderFigures, holderFigures } from './holder-figures.ts'
import { Holders } from './holders.ts'
import { HourWindow } from './hour-window.ts'
import { PoolHistory } from './pool-history.ts'
import type { TimedEvent, TrendingEvent } from './trending-event.ts'
import { type ExactToken, tickAt } from './watched-token.ts'

/** The facts about a token that table `mints` has. */
export interface TokenFacts {
  readonly supply: bigint | null
  readonly symbol: string
  readonly name: string
}

/** The state that the engine keeps of one token. */
export class TokenBook {
  readonly mint: string
  facts: TokenFacts = { supply: null, symbol: '', name: '' }
  /** Number of known events that do not count yet. */
  waiting = 0
  /** The tick of the next computation; infinite if nothing can change by time alone. */
  dueAt = Number.POSITIVE_INFINITY
  /** The tick at which the token entered the list; null while it is not listed. */
  enteredAt: number | null = null
  lastTradeAt = 0
  #firstTradeAt = 0
  #discoveredAt = 0
  /** Number of wallets that ever bought. */
  #buyers = 0
  /** Number of holding wallets. */
  #holding = 0
  /** Price of the newest swap with a value, and pool of the newest swap with a known pool. */
  #price: SwapPrice | null = null
  #pool = ''
  readonly #holders = new Holders()
  readonly #window = new HourWindow()
  readonly #pools = new PoolHistory()
  /** Null after an event or a change of the supply, until they are needed again. */
  #holderFigures: HolderFigures | null = null

  constructor(mint: string) {
    this.mint = mint
  }

  /** Whether one of the wallets has an event of this token. */
  hasAnyOf(wallets: ReadonlySet<number>): boolean {
    for (const wallet of wallets) if (this.#holders.has(wallet)) return true
    return false
  }

  /** Sets the facts about the mint. Returns false if they are the same as before. */
  setFacts(facts: TokenFacts): boolean {
    const { supply, symbol, name } = this.facts
    if (supply === facts.supply && symbol === facts.symbol && name === facts.name) return false
    this.facts = facts
    this.#holderFigures = null
    return true
  }

  /**
   * Registers an event, in event-key order. Returns the time from which it counts, which is not
   * before the wallet's previous event.
   */
  register(event: TrendingEvent): number {
    const holder = this.#holders.of(event.wallet)
    holder.newestAt = Math.max(holder.newestAt, event.blockTime)
    this.waiting += 1
    return holder.newestAt
  }

  /** Books a registered event, in the order of the times from which events count. */
  book({ time, event }: TimedEvent): void {
    this.waiting -= 1
    const holder = this.#holders.of(event.wallet)
    const held = isHolding(holder)
    const isFirstBuy = holder.firstBuy === null && event.kind === 'buy'
    bookEvent(holder, event, time)
    this.#holderFigures = null
    if (event.kind === 'token_in' || event.kind === 'token_out') return
    if (this.lastTradeAt === 0) this.#firstTradeAt = time
    this.lastTradeAt = time
    if (isFirstBuy && ++this.#buyers === 2) this.#discoveredAt = time
    if (held !== isHolding(holder)) this.#holding += held ? -1 : 1
    const { kind, value, amount, pool } = event
    if (value !== null && value > 0n)
      this.#price = { time, lamports: value, amount, solUsdE9: event.solPriceUsdE9 }
    if (pool !== '') this.#pool = pool
    const after = { holders: this.#holding, price: this.#price, pool: this.#pool }
    this.#window.add({ time, side: kind, value, ...after })
  }

  /** Packs what the newest events have changed. */
  pack(): void {
    this.#holders.pack()
  }

  /** Adds a pool snapshot; of two with the same `at` the later counts. */
  addPool(snapshot: PoolSnapshot): void {
    this.#pools.add(snapshot)
  }

  /** Updates `enteredAt` for tick `at` from the events applied so far (rule G1). */
  updateListing(at: number): void {
    const isTraded = this.lastTradeAt > 0 && at - this.lastTradeAt < EVICT_SECONDS
    if (this.enteredAt === null) {
      if (isTraded && this.#holding >= HOLDERS_TO_ENTER) this.enteredAt = at
    } else if (!isTraded || this.#holding === 0) this.enteredAt = null
  }

  /**
   * Returns the token as of tick `at`, during or at the end of the listing that began at
   * `enteredAt`.
   */
  figures(at: number, enteredAt: number, solPriceAt: SolPriceAt): ExactToken {
    this.#moveTo(at)
    const { buys, sells, before, ago } = this.#window
    const held = this.#figuresOfHolders()
    const hourAgo = at - HOUR_SECONDS
    const pool = this.#pools.newest(at, enteredAt, this.#pool)
    const poolAgo = this.#pools.newest(hourAgo, enteredAt, ago.pool)
    const currentMcap = this.#mcap(at, this.#price, pool, solPriceAt)
    const mcapAgo = this.#mcap(hourAgo, ago.price, poolAgo, solPriceAt)
    const hasHour = this.#firstTradeAt <= hourAgo
    const since = (value: Fraction | null) => (hasHour ? value : undefined)
    return {
      at,
      mint: this.mint,
      symbol: this.facts.symbol,
      name: this.facts.name,
      firstTradeAt: this.#firstTradeAt,
      discoveredAt: this.#discoveredAt,
      enteredAt,
      oldestHoldAt: held.oldestHoldAt,
      lastTradeAt: this.lastTradeAt,
      walletsHolding: held.walletsHolding,
      wallets: held.wallets,
      conviction: convictionOf(held.walletsHolding, held.held, held.bought, buys, sells),
      heldLamports: held.heldLamports,
      pctHeld: held.pctHeld,
      avgEntryMcap: held.avgEntryMcap,
      currentMcap,
      multiple: multipleOf(currentMcap, held.avgEntryMcap),
      bandMin: held.bandMin,
      bandMax: held.bandMax,
      buyLamports: buys,
      sellLamports: sells,
      momentum: {
        mcap: momentumOf(currentMcap, since(mcapAgo), null),
        holders: momentumOf(wholeOf(this.#holding), since(wholeOf(ago.holders))),
        volume1h: momentumOf(solOf(buys + sells), since(solOf(before))),
        liquidity: momentumOf(
          pool && liquidityOf(pool, at, solPriceAt),
          since(poolAgo && liquidityOf(poolAgo, hourAgo, solPriceAt)),
        ),
      },
      state: watchStateOf(at - enteredAt, buys, sells),
      nearEvict: this.#holding === 1 || at - this.lastTradeAt >= NEAR_EVICT_SECONDS,
    }
  }

  /** Market cap in USD as of `at`, whether listed or not. */
  mcapAt(at: number, solPriceAt: SolPriceAt): Fraction | null {
    const { enteredAt } = this
    const pool = enteredAt === null ? null : this.#pools.newest(at, enteredAt, this.#pool)
    return this.#mcap(at, this.#price, pool, solPriceAt)
  }

  /** The pool of the newest swap, which the worker should follow; null if unknown. */
  get pool(): string | null {
    return this.#pool === '' ? null : this.#pool
  }

  /**
   * The first tick after `at` at which time alone changes a figure, ends the listing, or makes the
   * token expendable.
   */
  nextDue(at: number): number {
    const edges = [this.lastTradeAt + EVICT_SECONDS]
    if (this.enteredAt !== null) {
      this.#moveTo(at)
      edges.push(
        this.enteredAt + DISCOVERED_SECONDS,
        this.#firstTradeAt + HOUR_SECONDS,
        this.lastTradeAt + NEAR_EVICT_SECONDS,
        this.#window.nextChange(),
        ...this.#pools.changeTimes(),
      )
    }
    let due = Number.POSITIVE_INFINITY
    for (const edge of edges) if (edge > at && edge < due) due = edge
    return tickAt(due)
  }

  #moveTo(at: number): void {
    this.#window.moveTo(at)
    this.#pools.moveTo(at)
  }

  #mcap(
    time: number,
    price: SwapPrice | null,
    pool: PoolSnapshot | null,
    solPriceAt: SolPriceAt,
  ): Fraction | null {
    const { supply } = this.facts
    return pool === null
      ? mcapOfSwap(price, supply, time, solPriceAt)
      : mcapOfPool(pool, supply, time, solPriceAt)
  }

  #figuresOfHolders(): HolderFigures {
    this.#holderFigures ??= holderFigures(this.#holders.holding(), this.facts.supply)
    return this.#holderFigures
  }
}

function solOf(lamports: bigint): Fraction {
  return fraction(lamports, LAMPORTS_PER_SOL)
}

function wholeOf(count: number): Fraction {
  return fraction(BigInt(count))
}
