import type { BalanceRecord, WalletEvent } from '../../domain/event.ts'
import { compareEventKeys } from '../../domain/event-key.ts'
import { createPerturb, type Perturb } from '../../domain/perturbation.ts'
import type { Refold } from '../../domain/slot.ts'
import { toFoldEvent } from '../../fold/fold-event.ts'
import { foldBalance, foldEvent } from '../../fold/fold-wallet.ts'
import { snapshotFormat } from '../../fold/snapshot.ts'
import {
  createWalletState,
  isBeyond,
  type WalletPlace,
  type WalletState,
} from '../../fold/wallet-state.ts'
import { EventLoopYield } from '../../runtime/event-loop-yield.ts'
import type { Store } from '../../store/store.ts'
import type { FoldMetrics } from '../telemetry.ts'
import {
  BookRows,
  findBroken,
  markBroken,
  readBooks,
  removeStale,
  type StoredBooks,
  saveSnapshots,
} from './book-store.ts'
import { readBalances, readEvents, START } from './stored-events.ts'
import { type CachedWallet, recordsOf, WalletCache } from './wallet-cache.ts'

/** Records folded since its last snapshot after which a wallet is saved again; more for one with many tokens, whose snapshot costs more. */
const SAVE_EVERY = 512

/** Wallets whose books are made anew together; bounds what is held meanwhile. */
const WALLETS_AT_ONCE = 64

/**
 * While a backfill brings late events of a wallet, its books are made anew this long after the first of them that they do not hold: a twentieth of the
 * time at most goes into folding at 50,000 events a second, so that a long history costs a few folds, not one for each of its pages.
 */
const PUT_OFF_MS = 2000
const PUT_OFF_MS_PER_RECORD = 0.4

/** What one flush brings of one wallet: not stored before, events in event-key order. */
export interface WalletNews {
  readonly events: readonly WalletEvent[]
  readonly balances: readonly BalanceRecord[]
  /** Those of its events that a backfill fetched: more are to be expected. */
  readonly fetched: ReadonlySet<WalletEvent>
}

/** What `prepare` found out about the wallets of a flush, before anything of it is stored. */
export interface Preparation {
  /** Wallets that are not in memory. */
  readonly books: ReadonlyMap<number, StoredBooks>
  /** Wallets to be folded from their beginning, with the revision to give them. */
  readonly anew: Map<number, number>
}

/**
 * The books of the wallets of this process: in memory those that moved of late, in storage all. Rows that are derived from events go through
 * here. Whatever the moment at which the process dies, what is stored then leads to the same rows again:
 *
 * 1. events are stored before anything derived from them, metrics before the rest, snapshots after the rest;
 * 2. a wallet's state is its snapshot and the stored events beyond it; what they change is stored again, which changes nothing if it was;
 * 3. before an event is stored that belongs among older ones (C16), the wallet's snapshot is marked broken: until its books are made anew from
 *    its first event, whoever finds the mark does that. So this may be put off, and is while a backfill goes on.
 */
export class WalletBooks {
  readonly #store: Store
  readonly #metrics: FoldMetrics
  readonly #now: () => number
  readonly #perturb: Perturb | null
  readonly #format: number
  readonly #cache: WalletCache
  /** Wallets whose books are marked broken and made anew at a time: milliseconds, and the revision of the mark. */
  readonly #putOff = new Map<number, { readonly dueMs: number; readonly revision: number }>()

  /** `now`: milliseconds of the wall clock. */
  constructor(options: {
    store: Store
    metrics: FoldMetrics
    now: () => number
    /** `PRIVACY_SALT`: positions are stored as they are served too (rule I2). */
    salt?: string | null
    cache?: WalletCache
  }) {
    this.#store = options.store
    this.#metrics = options.metrics
    this.#now = options.now
    this.#perturb = createPerturb(options.salt ?? null)
    this.#format = snapshotFormat(options.salt ?? null)
    this.#cache = options.cache ?? new WalletCache()
  }

  /** Forgets what is in memory; nothing is lost. */
  forget(): void {
    this.#cache.clear()
    this.#putOff.clear()
  }

  /** State of a wallet in memory. */
  stateOf(wallet: number): WalletState | undefined {
    return this.#cache.get(wallet)?.state
  }

  /** Makes anew the books that a process left half made. */
  async recover(isMine: (wallet: number) => boolean): Promise<void> {
    const broken = (await findBroken(this.#store, this.#format)).filter(isMine)
    if (broken.length === 0) return
    const preparation = await this.prepare(broken)
    await this.announce(new Map(), preparation)
    await this.fold(new Map(), preparation)
  }

  /**
   * Changes stored events of these wallets by `write`, which may be repeated, and folds the wallets anew. The mark is stored before, so that
   * wherever the process dies the books follow from the events as they then are.
   */
  async amend(wallets: readonly number[], write: () => Promise<void>): Promise<void> {
    const preparation = await this.prepare(wallets)
    for (const wallet of wallets) this.#foldAnewNext(wallet, preparation)
    await this.announce(new Map(), preparation)
    await write()
    await this.fold(new Map(), preparation)
  }

  /** Reads what is stored of the wallets that are not in memory; those of `refolds` whose revision is not yet reached are to be folded anew. */
  async prepare(wallets: Iterable<number>, refolds: readonly Refold[] = []): Promise<Preparation> {
    const asked = new Set([...wallets, ...refolds.map((refold) => refold.wallet)])
    const absent = [...asked].filter((wallet) => !this.#cache.has(wallet))
    const books = await readBooks(this.#store, absent, this.#format)
    const anew = new Map<number, number>()
    for (const [wallet, { broken, revision }] of books) if (broken) anew.set(wallet, revision + 1)
    const preparation = { books, anew }
    for (const { wallet, revision } of refolds)
      if (revision > this.#revisionOf(wallet, preparation)) anew.set(wallet, revision)
    return preparation
  }

  /** The revision that the wallet has or is about to get. */
  #revisionOf(wallet: number, { books, anew }: Preparation): number {
    return anew.get(wallet) ?? this.stateOf(wallet)?.revision ?? books.get(wallet)?.revision ?? 0
  }

  #foldAnewNext(wallet: number, preparation: Preparation): void {
    const { anew } = preparation
    if (!anew.has(wallet)) anew.set(wallet, this.#revisionOf(wallet, preparation) + 1)
  }

  /** Whether an event of the wallet is beyond all that its derived rows know. */
  isBeyond(event: WalletPlace & { readonly wallet: number }, { books }: Preparation): boolean {
    const known = this.stateOf(event.wallet) ?? books.get(event.wallet)?.highWater ?? START
    return isBeyond(known, event)
  }

  /**
   * Says, before any of `news` is stored, which wallets are folded from their beginning: those with a late event join `anew`. Where a backfill fetched what
   * is late, the wallet is only marked, and joins with the first flush after its time has come: until then its state goes on without those events.
   */
  async announce(news: ReadonlyMap<number, WalletNews>, preparation: Preparation): Promise<void> {
    const { anew } = preparation
    const marked = new Map<number, number>()
    for (const [wallet, { events, fetched }] of news) {
      const late = events.filter((event) => !this.isBeyond(event, preparation))
      if (late.length === 0) continue
      this.#metrics.lateEvents.inc(late.length)
      const state = this.stateOf(wallet)
      const mayWait = state !== undefined && late.every((event) => fetched.has(event))
      if (!mayWait) this.#foldAnewNext(wallet, preparation)
      else if (!anew.has(wallet) && !this.#putOff.has(wallet)) {
        const revision = state.revision + 1
        const dueMs = this.#now() + PUT_OFF_MS + PUT_OFF_MS_PER_RECORD * recordsOf(state)
        this.#putOff.set(wallet, { dueMs, revision })
        marked.set(wallet, revision)
      }
    }
    for (const [wallet, { dueMs, revision }] of this.#putOff)
      if (dueMs <= this.#now() && !anew.has(wallet)) anew.set(wallet, revision)
    await markBroken(this.#store, new Map([...marked, ...anew]))
  }

  /** Folds what is new, and stores what follows from it once `stored` says that all that is new is stored itself. */
  async fold(
    news: ReadonlyMap<number, WalletNews>,
    preparation: Preparation,
    stored: Promise<unknown> = Promise.resolve(),
  ): Promise<void> {
    const { books, anew } = preparation
    const rows = this.#newRows()
    const loopYield = new EventLoopYield()
    for (const [wallet, { events, balances }] of news) {
      if (loopYield.isDue) await loopYield.wait()
      const state = this.stateOf(wallet)
      if (state === undefined || anew.has(wallet)) continue
      const isPutOff = this.#putOff.has(wallet)
      for (const event of events)
        if (!isPutOff || isBeyond(state, event)) foldEvent(state, toFoldEvent(event), this.#perturb)
      for (const balance of balances) foldBalance(state, balance)
      rows.add(state)
      this.#keep(state)
    }
    await stored
    await this.#load(books, anew, rows)
    await rows.store()
    await this.#save(
      [...news.keys(), ...books.keys()],
      (entry, wallet) => !anew.has(wallet) && isDue(entry),
    )
    const wallets = [...anew]
    for (let at = 0; at < wallets.length; at += WALLETS_AT_ONCE) {
      await this.#foldAnew(new Map(wallets.slice(at, at + WALLETS_AT_ONCE)))
      this.#cache.trim()
    }
    this.#cache.trim()
    this.#metrics.cachedWallets.set(this.#cache.size)
  }

  /** Stores a snapshot of every wallet that has moved since its last, so that the next start finds nothing to fold. */
  async save(): Promise<void> {
    const moved = this.#cache.moved()
    for (let at = 0; at < moved.length; at += WALLETS_AT_ONCE) {
      await this.#save(moved.slice(at, at + WALLETS_AT_ONCE), () => true)
      this.#cache.trim()
    }
  }

  /** Wallets that were not in memory: snapshot and stored events beyond it, those of this flush among them. */
  async #load(
    books: ReadonlyMap<number, StoredBooks>,
    anew: Map<number, number>,
    rows: BookRows,
  ): Promise<void> {
    const states = new Map<number, WalletState>()
    for (const [wallet, { snapshot, revision }] of books)
      if (!anew.has(wallet)) {
        const state = snapshot ?? createWalletState(wallet, revision)
        states.set(wallet, state)
        this.#keep(state, snapshot ? recordsOf(snapshot) : 0)
      }
    // What takes more than a page is made anew: that way holds little in memory, and starts from a mark.
    const tooLong = new Map<number, number>()
    const loopYield = new EventLoopYield()
    for await (const page of readEvents(this.#store, states, { onlyShort: true })) {
      if (loopYield.isDue) await loopYield.wait()
      const state = states.get(page.wallet)
      if (state === undefined) continue
      if (!page.isLast) tooLong.set(page.wallet, state.revision + 1)
      else for (const event of page.events) foldEvent(state, event, this.#perturb)
    }
    await markBroken(this.#store, tooLong)
    for (const [wallet, revision] of tooLong) {
      anew.set(wallet, revision)
      states.delete(wallet)
    }
    await this.#loadBalances([...states.values()])
    for (const state of states.values()) {
      if (loopYield.isDue) await loopYield.wait()
      rows.add(state)
      this.#keep(state)
    }
  }

  /** Makes the books of some wallets from their first event; what they say now replaces what any earlier revision said. */
  async #foldAnew(revisions: ReadonlyMap<number, number>): Promise<void> {
    const rows = this.#newRows()
    const states = new Map(
      [...revisions].map(([wallet, revision]) => [wallet, createWalletState(wallet, revision)]),
    )
    const beginnings = new Map([...revisions.keys()].map((wallet) => [wallet, START]))
    for await (const { wallet, events } of readEvents(this.#store, beginnings)) {
      const state = states.get(wallet)
      if (state === undefined) continue
      for (const event of events) foldEvent(state, event, this.#perturb)
      await rows.addInBetween(state)
    }
    await this.#loadBalances([...states.values()])
    for (const state of states.values()) {
      this.#metrics.refolds.inc()
      state.changes.metrics = true
      rows.add(state)
      this.#keep(state, 0)
    }
    await rows.store()
    await removeStale(this.#store, revisions)
    for (const wallet of states.keys()) this.#putOff.delete(wallet)
    await this.#save(states.keys(), () => true)
  }

  #newRows(): BookRows {
    return new BookRows(this.#store, Math.floor(this.#now() / 1000), this.#perturb !== null)
  }

  async #loadBalances(states: readonly WalletState[]): Promise<void> {
    const byWallet = new Map(states.map((state) => [state.wallet, state]))
    const beyond = new Map(
      states.map((s) => [s.wallet, { slot: s.balanceSlot, txIndex: s.balanceTxIndex }]),
    )
    for (const { wallet, records, ...newest } of await readBalances(this.#store, beyond)) {
      const state = byWallet.get(wallet)
      if (state === undefined || !foldBalance(state, newest)) continue
      state.balances += records - 1
    }
  }

  #keep(state: WalletState, saved = this.#cache.get(state.wallet)?.saved ?? 0): void {
    this.#cache.keep(state, saved)
  }

  async #save(
    wallets: Iterable<number>,
    which: (entry: CachedWallet, wallet: number) => boolean,
  ): Promise<void> {
    const entries = [...new Set(wallets)].flatMap((wallet) => {
      const entry = this.#cache.get(wallet)
      // A mark stays until the books are made anew.
      return entry && !this.#putOff.has(wallet) && which(entry, wallet) ? [entry] : []
    })
    await saveSnapshots(
      this.#store,
      entries.map((entry) => entry.state),
      this.#format,
    )
    for (const entry of entries) entry.saved = recordsOf(entry.state)
  }
}

function isDue({ state, saved }: CachedWallet): boolean {
  return recordsOf(state) - saved >= Math.max(SAVE_EVERY, 4 * state.tokens.size)
}

/** Sorts events in event-key order. */
export function inKeyOrder(events: readonly WalletEvent[]): WalletEvent[] {
  return [...events].sort(compareEventKeys)
}
