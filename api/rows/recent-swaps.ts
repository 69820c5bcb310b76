import { compareEventKeys, type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { newestVersions } from '../../pipeline/store/tables/event-rows.ts'
import { type LateRow, readLate } from '../../pipeline/store/tables/late-swaps.ts'
import {
  readSwapRows,
  readWrittenSwapRows,
  type StoredSwap,
  type SwapRow,
  swapOfRow,
} from '../../pipeline/store/tables/swaps.ts'
import { hasCome, lateBefore } from '../cursor.ts'
import type { StoragePosition, StoredSlot } from '../storage-position.ts'
import { type LateKeys, readLateKeys } from './feed-rows.ts'
import { GO_BACK_MS, LookbackWindow } from './look-back.ts'
import { readNewestSwaps } from './newest-swaps.ts'
import { SortedList } from './sorted-list.ts'

/** A page of swaps of all wallets, newest first, and its position. */
export interface SwapsPage {
  readonly swaps: readonly StoredSwap[]
  /** The storage marker as of which the page was read. */
  readonly slot: number
  /** The newest stored swap; null without any. */
  readonly newest: EventKey | null
  /** Late swaps as of the marker, including each one among `swaps`. */
  readonly late: LateKeys
}

/**
 * A read model of the newest stored swaps of all wallets (default 20,000, some 10 MB): read once,
 * then updated to each marker by one query. Pages of older swaps come from the store, and all pages
 * for 30 s after a burst of writes.
 *
 * An update reads the slots since the last marker, late swaps sent since, and other changed rows
 * (backfilled history and corrections). The first two are exact; the third overlaps as
 * `LookbackWindow` says.
 */
export class RecentSwaps {
  readonly #store: Store
  readonly #position: Pick<StoragePosition, 'stored' | 'beforeMove'>
  readonly #epoch: number
  readonly #most: number
  readonly #now: () => number
  #isRead = false
  /** Oldest first: all swaps from `#from` (null: the first stored one) up to slot `#slot`. */
  #swaps = new SortedList<StoredSwap>(compareEventKeys)
  #from: EventKey | null = null
  #slot = 0
  #late: LateKeys = { unsettled: new Set(), newest: null }
  readonly #lookBack = new LookbackWindow()
  #followedAt = 0
  #notBefore = Number.NEGATIVE_INFINITY
  /** Whether `page` was called since the last marker. If not, swaps are not prefetched. */
  #isRequested = false
  #refreshing: Promise<void> | null = null

  constructor(deps: {
    readonly store: Store
    readonly position: Pick<StoragePosition, 'stored' | 'beforeMove'>
    /** Epoch of the log that late swaps came from. */
    readonly epoch: number
    readonly most?: number
    readonly now?: () => number
  }) {
    this.#store = deps.store
    this.#position = deps.position
    this.#epoch = deps.epoch
    this.#most = deps.most ?? 20_000
    this.#now = deps.now ?? Date.now
    this.#position.beforeMove(async (next) => {
      if (!this.#isRead || !this.#isRequested) return () => {}
      this.#isRequested = false
      return this.#follow(next)
    })
  }

  /**
   * Returns the newest `limit` swaps strictly older than `before` (null: of all) as of the marker;
   * null if the store must be queried (`readSwapsPage`). Reads missing swaps first, once for
   * concurrent calls. Rejects when the store does not answer.
   */
  async page(before: EventKey | null, limit: number): Promise<SwapsPage | null> {
    this.#isRequested = true
    if (!this.#isCurrent() && this.#now() >= this.#notBefore) {
      this.#refreshing ??= this.#refresh().finally(() => {
        this.#refreshing = null
      })
      await this.#refreshing
    }
    if (!this.#isCurrent()) return null
    const { items } = this.#swaps
    const end = before === null ? items.length : this.#countOlder(before)
    if (end < limit && this.#from !== null) return null
    return {
      swaps: items.slice(Math.max(0, end - limit), end).reverse(),
      slot: this.#slot,
      newest: items.at(-1) ?? null,
      late: this.#late,
    }
  }

  #isCurrent(): boolean {
    if (!this.#isRead || this.#now() - this.#followedAt >= MAX_AGE_MS) return false
    return this.#slot === this.#position.stored()?.slot
  }

  async #refresh(): Promise<void> {
    const stored = this.#position.stored()
    if (stored === null) return
    if (this.#isRead) (await this.#follow(stored))()
    if (!this.#isRead && this.#now() >= this.#notBefore) await this.#read(stored)
  }

  async #read(stored: StoredSlot): Promise<void> {
    await this.#lookBack.begin(this.#store, this.#now)
    const newest: StoredSwap[] = []
    let isWhole = false
    while (!isWhole && newest.length < this.#most) {
      const limit = Math.min(ROWS_AT_ONCE, this.#most - newest.length)
      const found = await readNewestSwaps(this.#store, stored.slot, newest.at(-1) ?? null, limit)
      newest.push(...found)
      isWhole = found.length < limit
    }
    const late = await readLateKeys(this.#store, lateBefore(this.#epoch, stored.slot))
    await this.#swaps.fill(newest)
    this.#late = late
    this.#from = isWhole ? null : (newest.at(-1) ?? null)
    this.#slot = stored.slot
    this.#followedAt = this.#now()
    this.#isRead = true
  }

  /** Reads what changed up to a later marker; the returned function applies it. */
  async #follow(next: StoredSlot): Promise<() => void> {
    const now = this.#now()
    const look = this.#lookBack.next(now)
    const from = this.#from?.slot ?? 0
    const bounds = { from, last: this.#slot, next: next.slot, since: look.since }
    const rows = await readWrittenSwapRows(this.#store, bounds, MOST_CHANGES)
    const isNew = ({ slot }: SwapRow) => Number(slot) > this.#slot
    // After the swaps, so that the position of every stored late swap is found.
    const { late, settled } = await this.#readLate(next)
    const changed = this.#unlike(rows.filter((row) => !isNew(row)))
    const others = new Map([...changed, ...settled].map((key) => [eventKeyText(key), key]))
    const isBurst = rows.length >= MOST_CHANGES || others.size >= MOST_OTHERS
    // An old version may have been stored again. Of all versions of a key, the newest counts.
    const found = isBurst ? [] : await readSwapRows(this.#store, [...others.values()])
    return () => {
      if (!this.#isRead || next.slot < this.#slot) return
      if (isBurst) {
        this.#isRead = false
        this.#swaps.keepLast(0)
        // Many changes over a long time are not a burst: the model is read again.
        if (now - this.#followedAt < GO_BACK_MS) this.#notBefore = now + GO_BACK_MS
        return
      }
      this.#take([...newestVersions(rows.filter(isNew)), ...found])
      this.#lookBack.took(look, rows)
      this.#followedAt = now
      this.#slot = next.slot
      this.#late = late
      this.#trim()
    }
  }

  /**
   * Reads late swaps as of the next marker, and the keys of those sent since the last one that are
   * not known yet.
   */
  async #readLate(next: StoredSlot): Promise<{ late: LateKeys; settled: EventKey[] }> {
    const since = lateBefore(this.#epoch, this.#slot)
    const rows = await readLate(this.#store, since, null, MOST_OTHERS)
    const position = lateBefore(this.#epoch, next.slot)
    const hasSettled = ({ mark }: LateRow) => hasCome(mark, position)
    const settled = rows.filter(hasSettled)
    const others = rows.filter((row) => !hasSettled(row))
    return {
      late: {
        unsettled: new Set(others.map(({ key }) => eventKeyText(key))),
        newest: settled.at(-1)?.mark ?? this.#late.newest,
      },
      settled: settled
        .map(({ key }) => key)
        .filter((key) => this.#isWithin(key) && this.#at(key) === undefined),
    }
  }

  /** Returns the keys of rows that differ from the known swaps. */
  #unlike(rows: readonly SwapRow[]): EventKey[] {
    return rows.flatMap((row) => {
      const swap = swapOfRow(row)
      const known = this.#at(swap)
      const isLike = known === undefined ? row.is_deleted !== 0 : known.version === swap.version
      return isLike || !this.#isWithin(swap) ? [] : [swap]
    })
  }

  #isWithin(key: EventKey): boolean {
    return this.#from === null || compareEventKeys(key, this.#from) >= 0
  }

  #at(key: EventKey): StoredSwap | undefined {
    const swap = this.#swaps.items[this.#countOlder(key)]
    return swap !== undefined && compareEventKeys(swap, key) === 0 ? swap : undefined
  }

  /** Applies rows. If a key occurs twice, as for a late swap of a new slot, both rows are equal. */
  #take(rows: readonly SwapRow[]): void {
    const swaps = new Map(rows.map((row) => [eventKeyText(swapOfRow(row)), row]))
    const removed: StoredSwap[] = []
    const added: StoredSwap[] = []
    for (const row of swaps.values()) {
      const swap = swapOfRow(row)
      if (!this.#isWithin(swap)) continue
      const known = this.#at(swap)
      if (known !== undefined) removed.push(known)
      if (row.is_deleted === 0) added.push(swap)
    }
    this.#swaps.change(removed, added)
  }

  /**
   * Evicts the oldest swaps once there are a quarter too many, so that not every marker moves the
   * whole list.
   */
  #trim(): void {
    if (this.#swaps.items.length <= this.#most * 1.25) return
    this.#swaps.keepLast(this.#most)
    this.#from = this.#swaps.items[0] ?? null
  }

  /** Number of swaps strictly older than the key. */
  #countOlder(key: EventKey): number {
    return this.#swaps.countBefore((swap) => compareEventKeys(swap, key) >= 0)
  }
}

/** Reads a page from the store. */
export async function readSwapsPage(
  store: Store,
  of: { readonly slot: number; readonly epoch: number },
  before: EventKey | null,
  limit: number,
): Promise<SwapsPage> {
  const { slot, epoch } = of
  const swaps = await readNewestSwaps(store, slot, before, limit)
  const [newest = null] = before === null ? swaps : await readNewestSwaps(store, slot, null, 1)
  return { swaps, slot, newest, late: await readLateKeys(store, lateBefore(epoch, slot)) }
}

const ROWS_AT_ONCE = 2000
/** A read model older than this is updated even if the marker has not moved. */
const MAX_AGE_MS = 5000
/** More rows than this are a burst: some 1,000 swaps per second. */
const MOST_CHANGES = 30_000
/** Largest number of late, backfilled and corrected swaps of one update. */
const MOST_OTHERS = 2000
