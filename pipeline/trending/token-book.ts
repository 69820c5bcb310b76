import { LAMPORTS_PER_SOL, nearestNumber } from '../domain/amount.ts'
import {
  convictionOf,
  DISCOVERED_SECONDS,
  EVICT_SECONDS,
  HOLDERS_TO_ENTER,
  HOUR_SECONDS,
  isPriced,
  liquidityOf,
  mcapOfPool,
  mcapOfSwap,
  momentumOf,
  NEAR_EVICT_SECONDS,
  type PoolPicture,
  type SolPriceAt,
  type SwapPrice,
  stateOf,
} from './figures.ts'
import { bookEvent, createHolder, entryMcap, type Holder, isHolding } from './holder.ts'
import { HourWindow } from './hour-window.ts'
import type { TimedEvent, TrendingEvent } from './trending-event.ts'
import { TICK_SECONDS, type WatchedToken } from './watched-token.ts'

/** What table `mints` says of a token. */
export interface MintFacts {
  readonly supply: bigint | null
  readonly symbol: string
  readonly name: string
}

/** What follows from the holders alone: made anew only when one of them did something, or the supply has come. */
type HolderFigures = Pick<
  WatchedToken,
  | 'wallets'
  | 'walletsHolding'
  | 'oldestHoldAt'
  | 'heldLamports'
  | 'pctHeld'
  | 'avgEntryMcap'
  | 'bandMin'
  | 'bandMax'
>

/** The first tick at or after a time. */
export function tickOf(time: number): number {
  return Math.ceil(time / TICK_SECONDS) * TICK_SECONDS
}

/** Everything that the engine holds of one token. */
export class TokenBook {
  readonly mint: string
  facts: MintFacts = { supply: null, symbol: '', name: '' }
  /** Events that are known and do not count yet. */
  waiting = 0
  /** The tick at which it is looked at next; infinite when nothing can change by time alone. */
  dueAt = Number.POSITIVE_INFINITY
  /** The tick at which it came to the list; null off it. */
  enteredAt: number | null = null
  /** What was told of it last; null when it was not told of, or told to have left. */
  told: WatchedToken | null = null
  lastTradeAt = 0
  #firstTradeAt = 0
  #discoveredAt = 0
  #buyers = 0
  #holding = 0
  #price: SwapPrice | null = null
  #pool = ''
  readonly #holders = new Map<number, Holder>()
  readonly #window = new HourWindow()
  /** Since a little more than an hour ago, by time. */
  #pools: PoolPicture[] = []
  #holderFigures: HolderFigures | null = null

  constructor(mint: string) {
    this.mint = mint
  }

  get holding(): number {
    return this.#holding
  }

  hasWallet(wallet: number): boolean {
    return this.#holders.has(wallet)
  }

  setFacts(facts: MintFacts): void {
    this.facts = facts
    this.#holderFigures = null
  }

  /** Takes note of an event, in event-key order; gives the time from which it counts: not before the wallet's event before it. */
  note(event: TrendingEvent): number {
    let holder = this.#holders.get(event.wallet)
    if (holder === undefined) {
      holder = createHolder(event.wallet)
      this.#holders.set(event.wallet, holder)
    }
    holder.newestAt = Math.max(holder.newestAt, event.blockTime)
    this.waiting += 1
    return holder.newestAt
  }

  /** Books an event that was noted, in the order of the times from which they count. */
  book({ time, event }: TimedEvent): void {
    this.waiting -= 1
    const holder = this.#holders.get(event.wallet)
    if (holder === undefined) throw new Error('an event is noted before it is booked')
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

  addPool(picture: PoolPicture): void {
    const newest = this.#pools.at(-1)
    if (newest !== undefined && newest.at >= picture.at)
      this.#pools = this.#pools.filter(({ at }) => at !== picture.at)
    this.#pools.push(picture)
    this.#pools.sort((a, b) => a.at - b.at)
  }

  /** Whether it comes or goes at tick `at`, by what is booked (rule G1); `enteredAt` follows. */
  updateStay(at: number): void {
    const isTraded = this.lastTradeAt > 0 && at - this.lastTradeAt < EVICT_SECONDS
    if (this.enteredAt === null) {
      if (isTraded && this.#holding >= HOLDERS_TO_ENTER) this.enteredAt = at
    } else if (!isTraded || this.#holding === 0) this.enteredAt = null
  }

  /** The token as of tick `at`, during or at the end of the stay that began at `enteredAt`. */
  figures(at: number, enteredAt: number, solPriceAt: SolPriceAt): WatchedToken {
    this.#moveTo(at)
    const { buys, sells, before, ago } = this.#window
    const held = this.#figuresOfHolders()
    const hourAgo = at - HOUR_SECONDS
    const pool = this.#poolAt(at, enteredAt, this.#pool)
    const poolAgo = this.#poolAt(hourAgo, enteredAt, ago.pool)
    const currentMcap = this.#mcap(at, this.#price, pool, solPriceAt)
    const { avgEntryMcap } = held
    const hasHour = this.#firstTradeAt <= hourAgo
    const since = (value: number | null) => (hasHour ? value : null)
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
      conviction: convictionOf(held.walletsHolding, held.pctHeld, buys, sells),
      heldLamports: held.heldLamports,
      pctHeld: held.pctHeld,
      avgEntryMcap,
      currentMcap,
      multiple: currentMcap === null || !avgEntryMcap ? null : currentMcap / avgEntryMcap,
      bandMin: held.bandMin,
      bandMax: held.bandMax,
      buyLamports: buys,
      sellLamports: sells,
      momentum: {
        mcap: momentumOf(currentMcap, since(this.#mcap(hourAgo, ago.price, poolAgo, solPriceAt))),
        holders: momentumOf(this.#holding, since(ago.holders)),
        volume1h: momentumOf(
          nearestNumber(buys + sells, LAMPORTS_PER_SOL),
          since(nearestNumber(before, LAMPORTS_PER_SOL)),
        ),
        liquidity: momentumOf(
          pool && liquidityOf(pool, at, solPriceAt),
          since(poolAgo && liquidityOf(poolAgo, hourAgo, solPriceAt)),
        ),
      },
      state: stateOf(at - enteredAt, buys, sells),
      nearEvict: this.#holding === 1 || at - this.lastTradeAt >= NEAR_EVICT_SECONDS,
    }
  }

  /** Market cap in USD as of `at`, on the list or not. */
  mcapAt(at: number, solPriceAt: SolPriceAt): number | null {
    const pool = this.enteredAt === null ? null : this.#poolAt(at, this.enteredAt, this.#pool)
    return this.#mcap(at, this.#price, pool, solPriceAt)
  }

  /** The pool that the worker should watch; null where none is known. */
  get pool(): string | null {
    return this.#pool === '' ? null : this.#pool
  }

  /** The first tick after `at` at which time alone changes a figure, or ends its stay or the reason to remember it. */
  nextDue(at: number): number {
    const edges = [this.lastTradeAt + EVICT_SECONDS]
    if (this.enteredAt !== null) {
      this.#moveTo(at)
      edges.push(
        this.enteredAt + DISCOVERED_SECONDS,
        this.#firstTradeAt + HOUR_SECONDS,
        this.lastTradeAt + NEAR_EVICT_SECONDS,
        this.#window.nextChange(),
        ...this.#pools.flatMap((picture) => [picture.at, picture.at + HOUR_SECONDS]),
      )
    }
    let due = Number.POSITIVE_INFINITY
    for (const edge of edges) if (edge > at && edge < due) due = edge
    return tickOf(due)
  }

  #moveTo(at: number): void {
    this.#window.moveTo(at)
    while ((this.#pools[1]?.at ?? Number.POSITIVE_INFINITY) <= at - HOUR_SECONDS)
      this.#pools.shift()
  }

  /** What the pool of the newest swap held at a time; null when that is not known, or not since the token's entry (rule G3). */
  #poolAt(time: number, enteredAt: number, pool: string): PoolPicture | null {
    const picture = this.#pools.findLast(({ at }) => at <= time)
    if (picture === undefined || picture.at < enteredAt || picture.pool !== pool) return null
    return isPriced(picture) ? picture : null
  }

  #mcap(
    time: number,
    price: SwapPrice | null,
    pool: PoolPicture | null,
    solPriceAt: SolPriceAt,
  ): number | null {
    const { supply } = this.facts
    return pool === null
      ? mcapOfSwap(price, supply, time, solPriceAt)
      : mcapOfPool(pool, supply, time, solPriceAt)
  }

  #figuresOfHolders(): HolderFigures {
    this.#holderFigures ??= this.#makeHolderFigures()
    return this.#holderFigures
  }

  #makeHolderFigures(): HolderFigures {
    const holders: Holder[] = []
    for (const holder of this.#holders.values()) if (isHolding(holder)) holders.push(holder)
    holders.sort((a, b) => a.wallet - b.wallet)
    let oldestHoldAt: number | null = null
    let heldLamports = 0n
    let bought = 0n
    let held = 0n
    let weighted = 0
    let weight = 0
    let bandMin: number | null = null
    let bandMax: number | null = null
    for (const holder of holders) {
      const { firstTradeAt } = holder
      if (firstTradeAt !== null && (oldestHoldAt === null || firstTradeAt < oldestHoldAt))
        oldestHoldAt = firstTradeAt
      heldLamports += holder.openCost
      bought += holder.bought
      held += holder.bought - holder.sold
      const mcap = entryMcap(holder, this.facts.supply)
      if (mcap === null) continue
      const spent = nearestNumber(holder.boughtLamports, LAMPORTS_PER_SOL)
      weighted += mcap * spent
      weight += spent
      bandMin = bandMin === null ? mcap : Math.min(bandMin, mcap)
      bandMax = bandMax === null ? mcap : Math.max(bandMax, mcap)
    }
    return {
      wallets: holders.map(({ wallet }) => wallet),
      walletsHolding: holders.length,
      oldestHoldAt,
      heldLamports,
      pctHeld: bought === 0n ? 0 : nearestNumber(held, bought),
      // Between the two whatever the doubles make of it.
      avgEntryMcap:
        weight === 0 || bandMin === null || bandMax === null
          ? null
          : Math.min(bandMax, Math.max(bandMin, weighted / weight)),
      bandMin,
      bandMax,
    }
  }
}
