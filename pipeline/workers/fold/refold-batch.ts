import { foldEvent } from '../../fold/fold-wallet.ts'
import {
  createWalletState,
  isBeyond,
  type WalletPlace,
  type WalletState,
} from '../../fold/wallet-state.ts'
import { EventLoopYield } from '../../runtime/event-loop-yield.ts'
import { deleteStaleRows, STALE_TABLES } from '../../store/tables/books.ts'
import { readEventPages, START_PLACE } from '../../store/tables/wallet-events.ts'
import type { BookLoaderOptions } from './book-loader.ts'
import type { BookWriter } from './book-writer.ts'
import { foldBalancesBeyond, foldEventsBeyond } from './fold-stored-events.ts'

/** Lots of one insert before the new state takes over. */
const LOTS_PER_PART = 2500

/** Dependencies of a batch. */
export interface RefoldBatchOptions extends BookLoaderOptions {
  createWriter(): BookWriter
  /** The version below which rows of the wallet are older than the revision. */
  firstVersion(wallet: number, revision: number): bigint
}

/**
 * Folds wallets from their first stored event into new states, which then replace those in memory.
 * Every wallet has a refold mark. The steps, in order: `readOn` until `isRead`; `storePart` until
 * it returns false and `catchUp`, if other work runs between the steps; `takeOver`; `deleteStale`
 * until it returns false. Until `takeOver` the former states, positions and metrics stay as they
 * are. A crash between two steps repeats all of them.
 */
export class RefoldBatch {
  /** Wallet to the revision that it gets. */
  readonly revisions: ReadonlyMap<number, number>
  readonly #options: RefoldBatchOptions
  readonly #states: ReadonlyMap<number, WalletState>
  /** Place of the last row read of each wallet. */
  readonly #places: Map<number, WalletPlace>
  readonly #unread: Set<number>
  /** Tables that may have rows of earlier revisions. */
  readonly #stale = [...STALE_TABLES]

  /** `revisions`: at most 1000 wallets. */
  constructor(options: RefoldBatchOptions, revisions: ReadonlyMap<number, number>) {
    const wallets = [...revisions.keys()].sort((a, b) => a - b)
    this.#options = options
    this.revisions = revisions
    this.#states = new Map(
      wallets.map((wallet) => [wallet, createWalletState(wallet, revisions.get(wallet))]),
    )
    this.#places = new Map(wallets.map((wallet) => [wallet, START_PLACE]))
    this.#unread = new Set(wallets)
  }

  /** Whether every event that was stored when its wallet was read is folded. */
  get isRead(): boolean {
    return this.#unread.size === 0
  }

  /** Whether the batch has read beyond a place: an event that is stored there now is not folded. */
  hasPassed(wallet: number, place: WalletPlace): boolean {
    const read = this.#places.get(wallet) ?? START_PLACE
    const state = this.#states.get(wallet) ?? START_PLACE
    return !isBeyond(read, place) || !isBeyond(state, place)
  }

  /** Reads and folds at most `limit` event rows. */
  async readOn(limit: number): Promise<void> {
    const { store, perturb } = this.#options
    const places = new Map([...this.#places].filter(([wallet]) => this.#unread.has(wallet)))
    const writer = this.#options.createWriter()
    const loopYield = new EventLoopYield()
    for (const { wallet, events, isLast, reached } of await readEventPages(store, places, limit)) {
      const state = this.#states.get(wallet)
      if (state === undefined) continue
      for (const event of events()) {
        if (loopYield.isDue) await loopYield.wait()
        foldEvent(state, event, perturb)
      }
      if (reached !== null) this.#places.set(wallet, reached)
      if (isLast) this.#unread.delete(wallet)
      await writer.addPartial(state)
    }
  }

  /** Stores some rows before `takeOver`. Returns whether there may be more. */
  async storePart(): Promise<boolean> {
    for (const state of this.#states.values())
      if (state.changes.lots.length >= LOTS_PER_PART) {
        await this.#options.createWriter().addLots(state, LOTS_PER_PART)
        return true
      }
    return false
  }

  /**
   * Folds the events that were stored beyond the states since. Wallets with more than a page of
   * them have to be read on.
   */
  async catchUp(): Promise<void> {
    const { store, perturb } = this.#options
    for (const wallet of await foldEventsBeyond(store, this.#states, perturb))
      this.#unread.add(wallet)
  }

  /**
   * Stores the new rows and puts the new states into the cache, unless `isCurrent` returns false
   * then: the partitions are assigned again.
   */
  async takeOver(isCurrent: () => boolean = () => true): Promise<void> {
    const { store, metrics, cache } = this.#options
    await foldBalancesBeyond(store, this.#states)
    if (!isCurrent()) return
    const writer = this.#options.createWriter()
    for (const state of this.#states.values()) {
      metrics.refolds.inc()
      state.changes.metrics = true
      writer.add(state)
      cache.keep(state, 0)
    }
    await writer.store()
  }

  /** Deletes rows of one more table that only an earlier revision has. False when that is done. */
  async deleteStale(): Promise<boolean> {
    const { store, firstVersion } = this.#options
    const table = this.#stale.pop()
    if (table === undefined) return false
    const first = [...this.revisions].map(
      ([wallet, revision]) => [wallet, firstVersion(wallet, revision)] as const,
    )
    await deleteStaleRows(store, table, new Map(first))
    return true
  }
}
