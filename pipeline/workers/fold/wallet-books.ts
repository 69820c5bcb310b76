import type { BalanceRecord, WalletEvent } from '../../domain/event.ts'
import { createPerturb, type Perturb } from '../../domain/perturbation.ts'
import type { RefoldRequest } from '../../domain/slot.ts'
import { toFoldEvent } from '../../fold/fold-event.ts'
import { foldBalance, foldEvent } from '../../fold/fold-wallet.ts'
import { storedFormats } from '../../fold/snapshot.ts'
import { isBeyond, type WalletPlace, type WalletState } from '../../fold/wallet-state.ts'
import { batches } from '../../runtime/batches.ts'
import { EventLoopYield } from '../../runtime/event-loop-yield.ts'
import type { Store } from '../../store/store.ts'
import { findWalletsToRefold } from '../../store/tables/fold-snapshots.ts'
import { countEventRows, countEventsUpTo, START_PLACE } from '../../store/tables/wallet-events.ts'
import type { FoldMetrics } from '../telemetry.ts'
import { BackgroundRefolds, REFOLD_LIMITS, type RefoldLimits } from './background-refolds.ts'
import { BookLoader, type FoldPlan } from './book-loader.ts'
import { readBooks } from './book-store.ts'
import type { BookWriter, FenceOf } from './book-writer.ts'
import { DeferredRefolds } from './deferred-refolds.ts'
import { type CachedWallet, countRecords, WalletCache } from './wallet-cache.ts'

/**
 * Records beyond its snapshot with which a wallet is saved. A snapshot grows with the tokens of its
 * wallet, so a wallet with many is saved less often.
 */
interface SaveAfter {
  readonly records: number
  readonly perToken: number
}
/** With so many a wallet is saved in the same flush. */
const AT_ONCE: SaveAfter = { records: 512, perToken: 4 }
/** With so many it is saved as soon as there is time: 16 swaps and their balances. */
const SOON: SaveAfter = { records: 32, perToken: 1 / 2 }
/** So many wallets are saved soon at once, and once in so many milliseconds. */
const MOST_SOON = 250
const SOON_EVERY_MS = 1000

/** Wallets refolded together; bounds memory. */
const WALLETS_PER_REFOLD = 64

/** Records that a flush adds to one wallet: those that were not stored before. */
export interface WalletAdditions {
  /** In event-key order. */
  readonly events: readonly WalletEvent[]
  readonly balances: readonly BalanceRecord[]
  /** Those of `events` that a backfill fetched; more are likely to follow. */
  readonly fetched: ReadonlySet<WalletEvent>
}

/** Dependencies of `WalletBooks`. */
export interface WalletBooksOptions {
  readonly store: Store
  readonly metrics: FoldMetrics
  /** Milliseconds of the wall clock. */
  readonly now: () => number
  /** `PRIVACY_SALT`: positions are stored also as they are served (rule I2). */
  readonly salt?: string | null
  readonly cache?: WalletCache
  /** Without one, as with a log in memory, versions have no fencing token. */
  readonly fenceOf?: FenceOf
  /** Default `REFOLD_LIMITS`. */
  readonly limits?: RefoldLimits
}

/**
 * The books of this process's wallets: lots, disposals, positions and metrics. All of them are in
 * storage, recently changed ones also in memory. Every derived row is written here.
 *
 * A crash at any point leads to the same rows, because of the order of writes:
 * 1. Events are stored before rows derived from them, metrics before the other derived rows, and
 *    snapshots last.
 * 2. A wallet's state is its snapshot plus the stored events beyond it. Recovery folds those events
 *    again and stores the same rows again.
 * 3. Before a late event is stored (rule C16), a refold mark replaces the wallet's snapshot.
 *    Whoever finds the mark folds the wallet from its first event. So the refold itself may be
 *    deferred.
 */
export class WalletBooks {
  readonly #store: Store
  readonly #metrics: FoldMetrics
  readonly #now: () => number
  readonly #perturb: Perturb | null
  /** Formats of snapshots that can be read. */
  readonly #readable: readonly number[]
  readonly #cache: WalletCache
  readonly #limits: RefoldLimits
  readonly #deferred = new DeferredRefolds()
  /** Wallets to be saved soon, those that have waited longest first. */
  readonly #soon = new Set<number>()
  #soonSavedAt = Number.NEGATIVE_INFINITY
  readonly #loader: BookLoader
  /** Refolds that are too long for a flush. */
  readonly background: BackgroundRefolds

  constructor(options: WalletBooksOptions) {
    this.#store = options.store
    this.#metrics = options.metrics
    this.#now = options.now
    this.#perturb = createPerturb(options.salt ?? null)
    const formats = storedFormats(options.salt ?? null)
    this.#readable = formats.readable
    this.#cache = options.cache ?? new WalletCache()
    this.#limits = options.limits ?? REFOLD_LIMITS
    this.background = new BackgroundRefolds({
      limits: this.#limits,
      createBatch: (revisions) => this.#loader.createBatch(revisions),
      mark: (revisions) => this.#loader.mark(revisions),
      save: async (wallets) => {
        await this.#loader.save(wallets, () => true)
        this.#cache.trim()
      },
      onCount: (wallets) => this.#metrics.backgroundRefolds.set(wallets),
    })
    this.#loader = new BookLoader({
      store: this.#store,
      metrics: this.#metrics,
      now: this.#now,
      perturb: this.#perturb,
      format: formats.written,
      fenceOf: options.fenceOf ?? (() => 0),
      cache: this.#cache,
      deferred: this.#deferred,
      background: this.background,
    })
  }

  /**
   * Drops everything in memory except the states of kept wallets. Storage has it all, also what
   * `recover` has to refold.
   */
  forget(isKept: (wallet: number) => boolean = () => false): void {
    this.#cache.retain(isKept)
    this.#deferred.clear()
    this.#soon.clear()
    this.background.clear()
    this.#metrics.cachedWallets.set(this.#cache.size)
  }

  /** Number of wallets in memory. */
  get size(): number {
    return this.#cache.size
  }

  /** Returns the state of a wallet if it is in memory. */
  stateOf(wallet: number): WalletState | undefined {
    return this.#cache.get(wallet)?.state
  }

  /**
   * Refolds the wallets of this process that have a refold mark or no readable snapshot, also those
   * in memory. Call it after `forget`.
   */
  async recover(isMine: (wallet: number) => boolean): Promise<void> {
    const wallets = (await findWalletsToRefold(this.#store, this.#readable)).filter(isMine)
    if (wallets.length === 0) return
    for (const wallet of wallets) this.#cache.delete(wallet)
    const plan = await this.plan(wallets)
    await this.markLate(new Map(), plan)
    await this.fold(new Map(), plan)
  }

  /**
   * Changes stored events of these wallets with `write`, then refolds the wallets. The refold mark
   * is stored first, so after a crash the books follow from whatever events are then stored. Long
   * refolds are left to `background`. `write` must be idempotent.
   */
  async amend(wallets: readonly number[], write: () => Promise<void>): Promise<void> {
    const plan = await this.plan(wallets)
    await this.markLate(new Map(), plan, new Map(wallets.map((wallet) => [wallet, false])))
    await write()
    await this.fold(new Map(), plan)
  }

  /**
   * Reads the books of wallets that are not in memory. Requested refolds that are done are left
   * out.
   */
  async plan(
    wallets: Iterable<number>,
    requested: readonly RefoldRequest[] = [],
  ): Promise<FoldPlan> {
    const all = new Set([...wallets, ...requested.map((refold) => refold.wallet)])
    const absent = [...all].filter(
      (wallet) => !this.#cache.has(wallet) && !this.background.has(wallet),
    )
    const books = await readBooks(this.#store, absent, this.#readable)
    const refolds = new Map<number, number>()
    for (const [wallet, { needsRefold, revision }] of books)
      if (needsRefold) refolds.set(wallet, revision + 1)
    const plan = { books, refolds }
    for (const { wallet, revision } of requested)
      if (revision > this.#revisionOf(wallet, plan)) refolds.set(wallet, revision)
    return plan
  }

  /** The revision that the wallet has, or will have once the plan is carried out. */
  #revisionOf(wallet: number, { books, refolds }: FoldPlan): number {
    return (
      refolds.get(wallet) ??
      this.background.revisionOf(wallet) ??
      this.stateOf(wallet)?.revision ??
      books.get(wallet)?.revision ??
      0
    )
  }

  #planRefold(wallet: number, plan: FoldPlan): void {
    const { refolds } = plan
    if (!refolds.has(wallet)) refolds.set(wallet, this.#revisionOf(wallet, plan) + 1)
  }

  /** Whether an event of the wallet is beyond every event that its derived rows include. */
  isBeyond(event: WalletPlace & { readonly wallet: number }, { books }: FoldPlan): boolean {
    const known = this.stateOf(event.wallet) ?? books.get(event.wallet)?.highWater ?? START_PLACE
    return isBeyond(known, event)
  }

  /**
   * Returns those of some wallets that are not in memory whose derived rows lack a stored event up
   * to the newest one that they include: one that was stored after them (rule K15).
   */
  async incomplete(wallets: Iterable<number>, { books }: FoldPlan): Promise<number[]> {
    const places = new Map<number, WalletPlace>()
    for (const wallet of wallets) {
      const stored = books.get(wallet)
      if (stored !== undefined && stored.events > 0) places.set(wallet, stored.highWater)
    }
    if (places.size === 0) return []
    const counts = await countEventsUpTo(this.#store, places)
    return [...places.keys()].filter((wallet) => counts.get(wallet) !== books.get(wallet)?.events)
  }

  /**
   * Stores refold marks, before any of `additions` is stored. Wallets with a late event join the
   * plan's refolds, and so do `amended` ones, of which stored events change. When a backfill
   * fetched all late events of a wallet (`amended`: true), the refold is deferred: the wallet joins
   * the first flush after the refold is due, and until then its state lacks those events.
   */
  async markLate(
    additions: ReadonlyMap<number, WalletAdditions>,
    plan: FoldPlan,
    amended: ReadonlyMap<number, boolean> = new Map(),
  ): Promise<void> {
    const { refolds } = plan
    const marks = new Map<number, number>()
    for (const wallet of new Set([...additions.keys(), ...amended.keys()])) {
      const { events = [], fetched } = additions.get(wallet) ?? {}
      if (this.background.has(wallet)) {
        this.background.note(wallet, amended.has(wallet) ? null : events, this.stateOf(wallet))
        continue
      }
      const late = events.filter((event) => !this.isBeyond(event, plan))
      if (late.length === 0 && !amended.has(wallet)) continue
      this.#metrics.lateEvents.inc(late.length)
      const state = this.stateOf(wallet)
      const areFetched = late.every((event) => fetched?.has(event))
      const mayDefer = state !== undefined && areFetched && amended.get(wallet) !== false
      if (!mayDefer) this.#planRefold(wallet, plan)
      else if (!refolds.has(wallet) && !this.#deferred.has(wallet)) {
        const revision = state.revision + 1
        this.#deferred.defer(wallet, revision, countRecords(state), this.#now())
        marks.set(wallet, revision)
      }
    }
    for (const [wallet, revision] of this.#deferred.due(this.#now()))
      if (!refolds.has(wallet)) refolds.set(wallet, revision)
    await this.#loader.mark(new Map([...marks, ...refolds]))
    await this.#moveLong(refolds)
  }

  /** Moves refolds that would make the flush long to the background (rule J16). */
  async #moveLong(refolds: Map<number, number>): Promise<void> {
    if (refolds.size === 0) return
    const counts = await countEventRows(this.#store, [...refolds.keys()])
    let left = this.#limits.rowsPerFlush
    for (const [wallet, revision] of refolds) {
      const rows = counts.get(wallet) ?? 0
      if (rows <= left && !this.background.has(wallet)) {
        left -= rows
        continue
      }
      refolds.delete(wallet)
      this.#deferred.delete(wallet)
      this.background.add(wallet, revision, rows)
    }
  }

  /**
   * Folds the additions and stores the derived rows, then carries out the plan's refolds. Folding
   * in memory runs while the events are being stored; nothing derived is stored before
   * `eventsStored` resolves.
   */
  async fold(
    additions: ReadonlyMap<number, WalletAdditions>,
    plan: FoldPlan,
    eventsStored: Promise<unknown> = Promise.resolve(),
  ): Promise<void> {
    const { books, refolds } = plan
    const writer = this.#loader.createWriter()
    await this.#foldInMemory(additions, refolds, writer)
    await eventsStored
    await this.#loader.load(plan, writer)
    await writer.store()
    await this.#saveDue(new Set([...additions.keys(), ...books.keys()]), refolds)
    for (const some of batches([...refolds], WALLETS_PER_REFOLD)) {
      await this.#loader.refold(new Map(some))
      this.#cache.trim()
    }
    this.#cache.trim()
    this.#metrics.cachedWallets.set(this.#cache.size)
  }

  /**
   * Stores the snapshots that are due. Once a second, those that are due soon follow: so that after
   * a kill few events have to be folded again, and many snapshots share an insert.
   */
  async #saveDue(
    wallets: ReadonlySet<number>,
    refolds: ReadonlyMap<number, number>,
  ): Promise<void> {
    await this.#loader.save(
      wallets,
      (entry, wallet) => !refolds.has(wallet) && isDue(entry, AT_ONCE),
    )
    for (const wallet of wallets) {
      const entry = this.#cache.get(wallet)
      if (entry && isDue(entry, SOON)) this.#soon.add(wallet)
    }
    const now = this.#now()
    if (now - this.#soonSavedAt < SOON_EVERY_MS) return
    this.#soonSavedAt = now
    const some: number[] = []
    for (const wallet of this.#soon) {
      if (some.length === MOST_SOON) break
      some.push(wallet)
      this.#soon.delete(wallet)
    }
    await this.#loader.save(some, (entry, wallet) => !refolds.has(wallet) && isDue(entry, SOON))
  }

  /**
   * Stores a snapshot of every wallet that changed since its last, so that the next start is quick.
   */
  async save(): Promise<void> {
    for (const moved of batches(this.#cache.moved(), WALLETS_PER_REFOLD)) {
      await this.#loader.save(moved, () => true)
      this.#cache.trim()
    }
  }

  /**
   * Folds additions into states in memory. Late events of a wallet with a pending refold are
   * skipped.
   */
  async #foldInMemory(
    additions: ReadonlyMap<number, WalletAdditions>,
    refolds: ReadonlyMap<number, number>,
    writer: BookWriter,
  ): Promise<void> {
    const loopYield = new EventLoopYield()
    for (const [wallet, { events, balances }] of additions) {
      if (loopYield.isDue) await loopYield.wait()
      const state = this.stateOf(wallet)
      if (state === undefined || refolds.has(wallet)) continue
      const isPending = this.#deferred.has(wallet) || this.background.has(wallet)
      for (const event of events)
        if (!isPending || isBeyond(state, event))
          foldEvent(state, toFoldEvent(event), this.#perturb)
      for (const balance of balances) foldBalance(state, balance)
      writer.add(state)
      this.#cache.keep(state)
    }
  }
}

/** Whether a wallet is so far beyond its snapshot. */
function isDue({ state, saved }: CachedWallet, { records, perToken }: SaveAfter): boolean {
  return countRecords(state) - saved >= Math.max(records, perToken * state.tokens.size)
}
