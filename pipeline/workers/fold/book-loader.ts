import type { Perturb } from '../../domain/perturbation.ts'
import { refoldVersion } from '../../fold/wallet-metrics.ts'
import { createWalletState, type WalletState } from '../../fold/wallet-state.ts'
import { EventLoopYield } from '../../runtime/event-loop-yield.ts'
import type { Store } from '../../store/store.ts'
import { STALE_TABLES } from '../../store/tables/books.ts'
import { markForRefold } from '../../store/tables/fold-snapshots.ts'
import type { FoldMetrics } from '../telemetry.ts'
import type { BackgroundRefolds } from './background-refolds.ts'
import { type StoredBooks, saveSnapshots } from './book-store.ts'
import { BookWriter, type FenceOf } from './book-writer.ts'
import type { DeferredRefolds } from './deferred-refolds.ts'
import { foldBalancesBeyond, foldEventsBeyond } from './fold-stored-events.ts'
import { RefoldBatch } from './refold-batch.ts'
import { type CachedWallet, countRecords, type WalletCache } from './wallet-cache.ts'

/** The work for the wallets of a flush. It is planned before any record of the flush is stored. */
export interface FoldPlan {
  /** Stored books of wallets that are not in memory. */
  readonly books: ReadonlyMap<number, StoredBooks>
  /** Wallets to be folded from their first event, and the revision that they get. */
  readonly refolds: Map<number, number>
}

/** Dependencies of the loader. */
export interface BookLoaderOptions {
  readonly store: Store
  readonly metrics: FoldMetrics
  /** Milliseconds of the wall clock. */
  readonly now: () => number
  /** Null without a salt. */
  readonly perturb: Perturb | null
  /** Format of snapshots, which depends on the salt. */
  readonly format: number
  readonly fenceOf: FenceOf
  readonly cache: WalletCache
  readonly deferred: DeferredRefolds
  readonly background: Pick<BackgroundRefolds, 'has' | 'add'>
}

/** Event rows in one response, when nothing else waits. */
const EVENTS_PER_PAGE = 20_000

/** Makes books from stored events, and stores snapshots of cached ones. */
export class BookLoader {
  readonly #options: BookLoaderOptions

  constructor(options: BookLoaderOptions) {
    this.#options = options
  }

  /** Loads wallets that were not in memory: the snapshot, and the stored events beyond it. */
  async load({ books, refolds }: FoldPlan, writer: BookWriter): Promise<void> {
    const { cache, background } = this.#options
    const states = new Map<number, WalletState>()
    for (const [wallet, { snapshot, revision }] of books) {
      if (refolds.has(wallet) || (snapshot === null && background.has(wallet))) continue
      const state = snapshot ?? createWalletState(wallet, revision)
      states.set(wallet, state)
      cache.keep(state, snapshot ? countRecords(snapshot) : 0)
    }
    // A wallet with many events beyond its snapshot is refolded: that needs little memory.
    const tooLong = new Map<number, number>()
    for (const wallet of await foldEventsBeyond(
      this.#options.store,
      states,
      this.#options.perturb,
    )) {
      if (!background.has(wallet)) tooLong.set(wallet, (states.get(wallet)?.revision ?? 0) + 1)
      cache.delete(wallet)
      states.delete(wallet)
    }
    await this.mark(tooLong)
    for (const [wallet, revision] of tooLong) background.add(wallet, revision, EVENTS_PER_PAGE)
    await foldBalancesBeyond(this.#options.store, states)
    const loopYield = new EventLoopYield()
    for (const state of states.values()) {
      if (loopYield.isDue) await loopYield.wait()
      writer.add(state)
      this.#options.cache.keep(state)
    }
  }

  /**
   * Folds wallets from their first event, while no other work runs. Rows that only an earlier
   * revision has are deleted.
   */
  async refold(revisions: ReadonlyMap<number, number>): Promise<void> {
    const batch = this.createBatch(revisions)
    while (!batch.isRead) await batch.readOn(EVENTS_PER_PAGE)
    await batch.takeOver()
    await Promise.all(STALE_TABLES.map(() => batch.deleteStale()))
    for (const wallet of revisions.keys()) this.#options.deferred.delete(wallet)
    await this.save(revisions.keys(), () => true)
  }

  /** Begins a refold of wallets: each with the revision that it gets. */
  createBatch(revisions: ReadonlyMap<number, number>): RefoldBatch {
    return new RefoldBatch(
      {
        ...this.#options,
        createWriter: () => this.createWriter(),
        firstVersion: this.#first,
      },
      revisions,
    )
  }

  /** Stores refold marks: wallet to the revision that its refold will have. */
  mark(revisions: ReadonlyMap<number, number>): Promise<void> {
    return markForRefold(this.#options.store, revisions, this.#first)
  }

  /** Stores snapshots. A wallet with a pending refold keeps its refold mark instead. */
  async save(
    wallets: Iterable<number>,
    isWanted: (entry: CachedWallet, wallet: number) => boolean,
  ): Promise<void> {
    const { deferred, background } = this.#options
    const entries = [...new Set(wallets)].flatMap((wallet) => {
      const entry = this.#options.cache.get(wallet)
      const isPending = deferred.has(wallet) || background.has(wallet)
      return entry && !isPending && isWanted(entry, wallet) ? [entry] : []
    })
    await saveSnapshots(
      this.#options.store,
      entries.map((entry) => entry.state),
      this.#options,
    )
    for (const entry of entries) entry.saved = countRecords(entry.state)
  }

  /** The version below which rows of the wallet are older than the revision. */
  readonly #first = (wallet: number, revision: number): bigint =>
    refoldVersion(revision, this.#options.fenceOf(wallet))

  /** Creates a writer for the changes of one flush. */
  createWriter(): BookWriter {
    return new BookWriter(
      this.#options.store,
      this.#options.fenceOf,
      Math.floor(this.#options.now() / 1000),
      this.#options.perturb !== null,
    )
  }
}
