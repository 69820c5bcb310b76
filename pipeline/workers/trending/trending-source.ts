import { compareEventKeys } from '../../domain/event-key.ts'
import { batches } from '../../runtime/batches.ts'
import type { Store } from '../../store/store.ts'
import { readFinishedRevisions } from '../../store/tables/fold-snapshots.ts'
import { readNewFacts } from '../../store/tables/mints.ts'
import { readPoolStates } from '../../store/tables/pool-states.ts'
import { readMintsOfWallets } from '../../store/tables/positions.ts'
import { readPricesByInterval } from '../../store/tables/sol-prices.ts'
import { readSwappedMints } from '../../store/tables/swaps.ts'
import { newestSlotAt } from '../../store/tables/token-events.ts'
import type { TrendingEngine } from '../../trending/engine.ts'
import type { TokenHistory } from '../../trending/replay-history.ts'
import type { TrendingEvent } from '../../trending/trending-event.ts'
import { TICK_SECONDS, type WatchedToken } from '../../trending/watched-token.ts'
import { groupByMint, readHistories, readTrendingEvents } from './trending-reader.ts'

/**
 * Trades older than this do not affect a tick: 24 hours, the seconds of a tick, and those of the
 * salt.
 */
const ACTIVE_SECONDS = 86_400 + 60
/** SOL prices are read from this long before the first tick, plus their maximum age. */
const PRICE_HISTORY_SECONDS = 2 * 3600
const ROWS_PER_PAGE = 20_000
/** Tokens whose histories are read together. */
const MINTS_PER_QUERY = 500
/** A row may become visible this long after its `inserted_at`. */
const VISIBILITY_SECONDS = 30

/**
 * Feeds a trending engine from the event tables, in ranges of time: swaps and transfers as they
 * were stored, and the whole history of a token that the engine does not know. No derived row is
 * used as data, so the result does not depend on when a worker wrote it.
 */
export class TrendingSource {
  readonly #store: Store
  readonly #engine: TrendingEngine
  readonly #lagSeconds: number
  readonly #solPriceMaxAgeSeconds: number
  /** Events up to this slot have been read. */
  #readSlot = -1
  /** Events up to this unix second have been given to the engine. */
  #given = 0
  /** Events that have been read and not given yet, in event-key order. */
  #waiting: TrendingEvent[] = []
  #pricesUntil = 0
  #poolsUntil = 0
  /**
   * Revision of each wallet's books. A higher one means that stored events of the past have
   * changed.
   */
  #revisions = new Map<number, number>()
  #factsAt = 0

  /**
   * `lagSeconds`: how long after a tick events happen that count at it, because the salt moves
   * times back.
   */
  constructor(deps: {
    readonly store: Store
    readonly engine: TrendingEngine
    readonly lagSeconds: number
    readonly solPriceMaxAgeSeconds: number
  }) {
    this.#store = deps.store
    this.#engine = deps.engine
    this.#lagSeconds = deps.lagSeconds
    this.#solPriceMaxAgeSeconds = deps.solPriceMaxAgeSeconds
  }

  /**
   * Restores the engine's state before its first tick. `listed`: rows of the tokens listed then.
   */
  async open(listed: readonly WatchedToken[]): Promise<void> {
    const engine = this.#engine
    this.#factsAt = performance.now()
    this.#revisions = await readFinishedRevisions(this.#store)
    this.#given = engine.at + this.#lagSeconds
    this.#readSlot = await newestSlotAt(this.#store, this.#given)
    this.#pricesUntil = engine.at - PRICE_HISTORY_SECONDS - this.#solPriceMaxAgeSeconds
    await this.#givePrices(engine.at)
    const oldestSlot = await newestSlotAt(this.#store, this.#given - ACTIVE_SECONDS)
    const swapped = await readSwappedMints(this.#store, oldestSlot, this.#readSlot)
    this.#poolsUntil = engine.at
    await this.#load(new Set([...swapped, ...listed.map(({ mint }) => mint)]), [])
    for (const token of listed) engine.restore(token)
  }

  /**
   * Gives the engine everything up to tick `through`. Storage must have passed that tick and be
   * complete up to `storedSlot`. Returns how many tokens were loaded again because their past had
   * changed.
   */
  async readThrough(through: number, storedSlot: number): Promise<number> {
    const horizon = through + this.#lagSeconds
    const reloaded = await this.#reloadChanged()
    await this.#readEvents(horizon, storedSlot)
    const events = this.#takeWaiting(horizon)
    const unknown = new Set<string>()
    for (const { kind, mint } of events)
      if ((kind === 'buy' || kind === 'sell') && !this.#engine.knows(mint)) unknown.add(mint)
    this.#engine.add(events)
    await this.#load(
      unknown,
      events.filter(({ mint }) => unknown.has(mint)),
    )
    this.#given = horizon
    await this.#givePrices(through)
    await this.#giveFacts()
    this.#engine.addPools(await readPoolStates(this.#store, null, this.#poolsUntil, through))
    this.#poolsUntil = through
    return reloaded
  }

  /** Reads pages until an event is later than `horizon`, or everything up to slot `to` is read. */
  async #readEvents(horizon: number, to: number): Promise<void> {
    let rows = ROWS_PER_PAGE
    while (this.#readSlot < to && !((this.#waiting.at(-1)?.blockTime ?? 0) > horizon)) {
      const { events, through } = await readTrendingEvents(this.#store, this.#readSlot, to, rows)
      // A slot with more swaps than a page needs a larger page.
      if (through === this.#readSlot) rows *= 2
      this.#waiting = this.#waiting.concat(events)
      this.#readSlot = through
    }
  }

  /** Removes and returns the waiting events up to the first that is later than `horizon`. */
  #takeWaiting(horizon: number): TrendingEvent[] {
    const count = this.#waiting.findIndex((event) => event.blockTime > horizon)
    const events = count < 0 ? this.#waiting : this.#waiting.slice(0, count)
    this.#waiting = count < 0 ? [] : this.#waiting.slice(count)
    return events
  }

  /** Loads the histories of tokens up to `#given`. `later`: events of these tokens after that. */
  async #load(mints: Iterable<string>, later: readonly TrendingEvent[]): Promise<void> {
    const laterOf = groupByMint(later)
    for (const some of batches([...mints], MINTS_PER_QUERY))
      for (const history of (await this.#readHistories(some)).values()) {
        const { past } = this.#split(history)
        const events = [...past, ...(laterOf.get(history.mint) ?? [])]
        this.#engine.load({ ...history, events })
      }
  }

  /** Loads the tokens again whose past has changed: their wallets' books have a higher revision. */
  async #reloadChanged(): Promise<number> {
    const wallets = await this.#changedWallets()
    if (wallets.size === 0) return 0
    const mints = await this.#affectedMints(wallets)
    for (const some of batches([...mints], MINTS_PER_QUERY)) {
      const histories = await this.#readHistories(some)
      const laterEvents: TrendingEvent[] = []
      for (const history of histories.values()) {
        const { past, later } = this.#split(history)
        if (past.length > 0 || this.#engine.knows(history.mint))
          this.#engine.load({ ...history, events: past })
        laterEvents.push(...later)
      }
      this.#waiting = this.#waiting
        .filter(({ mint }) => !histories.has(mint))
        .concat(laterEvents)
        .sort(compareEventKeys)
    }
    return mints.size
  }

  /**
   * Returns the wallets whose revision rose since the last call. A refold counts once it is
   * finished.
   */
  async #changedWallets(): Promise<Set<number>> {
    const known = this.#revisions
    const found = await readFinishedRevisions(this.#store)
    const wallets = new Set<number>()
    for (const [wallet, revision] of found)
      if (revision > (known.get(wallet) ?? 0)) wallets.add(wallet)
    this.#revisions = new Map([...known, ...found])
    return wallets
  }

  /**
   * Returns the tokens that the engine knows, or may need, and that these wallets have an event of.
   */
  async #affectedMints(wallets: ReadonlySet<number>): Promise<Set<string>> {
    const traded = await readMintsOfWallets(this.#store, wallets, this.#given - ACTIVE_SECONDS)
    const mints = new Set(this.#engine.mintsOf(wallets))
    // A wallet's old trade matters for a token that others trade now.
    for (const { mint, isRecent } of traded)
      if (isRecent || this.#engine.knows(mint)) mints.add(mint)
    for (const { mint, wallet } of this.#waiting) if (wallets.has(wallet)) mints.add(mint)
    return mints
  }

  async #readHistories(mints: readonly string[]): Promise<ReadonlyMap<string, TokenHistory>> {
    return readHistories(this.#store, mints, {
      to: this.#readSlot,
      poolsAfter: await newestSlotAt(this.#store, this.#given - ACTIVE_SECONDS),
      statesAfter: this.#poolsUntil - ACTIVE_SECONDS,
      statesThrough: this.#poolsUntil,
    })
  }

  /** Splits a history at the engine's current time. */
  #split({ events }: TokenHistory): { past: TrendingEvent[]; later: TrendingEvent[] } {
    return {
      past: events.filter(({ blockTime }) => blockTime <= this.#given),
      later: events.filter(({ blockTime }) => blockTime > this.#given),
    }
  }

  async #givePrices(through: number): Promise<void> {
    this.#engine.addPrices(
      await readPricesByInterval(this.#store, TICK_SECONDS, this.#pricesUntil, through),
    )
    this.#pricesUntil = through
  }

  /** Gives the engine the facts stored since the last call. */
  async #giveFacts(): Promise<void> {
    const now = performance.now()
    const seconds = Math.ceil((now - this.#factsAt) / 1000) + VISIBILITY_SECONDS
    const facts = await readNewFacts(this.#store, seconds)
    this.#factsAt = now
    for (const [mint, fact] of facts) this.#engine.setFacts(mint, fact)
  }
}
