import { compareEventKeys, type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { SlotMarker } from '../../pipeline/domain/slot.ts'
import type { LateMark } from '../../pipeline/log/late-order.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { rowKeyText } from '../../pipeline/store/tables/event-rows.ts'
import { readPlaces } from '../../pipeline/store/tables/late-swaps.ts'
import { readStorageMarker } from '../../pipeline/store/tables/progress.ts'
import { readSwapRows } from '../../pipeline/store/tables/swaps.ts'
import type { Account } from '../credits/meter.ts'
import { endOfSlot, type FeedPosition, lateBefore } from '../cursor.ts'
import { FairQueue } from '../fair-queue.ts'
import type { StoragePosition } from '../storage-position.ts'
import {
  type HistoryPage,
  HistoryPageReader,
  type HistoryPageReaderDeps,
  isBefore,
  type PageRequest,
} from './history-page.ts'

/** A late swap by its event key, and where it is on the log. */
export interface LateSwap {
  readonly swap: EventKey
  readonly mark: LateMark
}

/** Dependencies of a trade history: the stores and the renderer of trades. */
export interface TradeHistoryDeps extends Omit<HistoryPageReaderDeps, 'store'> {
  readonly store: Store
  /** The store for pages of one account: its queries wait for the account's turn. */
  readonly storeOf: (account: Account) => Store
  readonly position: Pick<StoragePosition, 'stored'>
}

/**
 * Trades of the feed as storage has them, for clients whose position is older than the window
 * (rule F4). Reads reject with `unavailable` when the store does not answer; a retry may help.
 */
export class TradeHistory {
  readonly #deps: TradeHistoryDeps
  readonly #reader: HistoryPageReader
  readonly #queue = new FairQueue({ atOnce: CONCURRENT_PAGES, perAccount: 1 })

  constructor(deps: TradeHistoryDeps) {
    this.#deps = deps
    this.#reader = new HistoryPageReader(deps)
  }

  /** Whether storage may hold trades after this position. Runs no query. */
  hasMore({ key, late }: FeedPosition): boolean {
    const stored = this.#deps.position.stored()
    if (stored === null) return false
    const storedLate = lateBefore(this.#deps.epoch, stored.slot)
    // The position includes late trades that are not all stored yet: reading waits for them.
    if (late !== null && isBefore(storedLate, late)) return false
    if (compareEventKeys(key, endOfSlot(stored.slot)) < 0) return true
    return late !== null && isBefore(late, storedLate)
  }

  /**
   * Reads the next trades that match a request, at most about a thousand. An account reads one page
   * at a time, and accounts take turns. `currentRequest` is called right before the read, so that
   * the page is the one the client wants by then. If it returns null, the page is null and no query
   * runs.
   */
  page(account: Account, currentRequest: () => PageRequest | null): Promise<HistoryPage | null> {
    const read = async () => {
      const request = currentRequest()
      if (request === null) return null
      const stored = this.#deps.position.stored()
      if (stored === null) return { steps: [], end: request.from }
      return this.#reader.read(this.#deps.storeOf(account), request, stored)
    }
    return this.#queue.run(account, read, () => currentRequest() === null)
  }

  /** Marker of the newest slot that is completely stored; null before the first. */
  marker(): Promise<SlotMarker | null> {
    return readStorageMarker(this.#deps.store)
  }

  /**
   * Returns the event keys of those late swaps that were published before: they are stored at
   * another place of the log than their mark says. Withdrawn swaps do not count: one of the
   * finalized block may have the same key.
   */
  async cameBefore(late: readonly LateSwap[]): Promise<ReadonlySet<string>> {
    const { store } = this.#deps
    const keys = late.map(({ swap }) => swap)
    const rows = await readSwapRows(store, keys)
    const storedKeys = new Set(rows.filter((row) => row.is_deleted === 0).map(rowKeyText))
    const stored = late.filter(({ swap }) => storedKeys.has(eventKeyText(swap)))
    if (stored.length === 0) return new Set()
    const places = await readPlaces(store, keys)
    const isStoredHere = ({ swap, mark }: LateSwap) =>
      places.some(
        (place) =>
          eventKeyText(place.key) === eventKeyText(swap) &&
          place.mark.epoch === mark.epoch &&
          place.mark.partition === mark.partition &&
          place.mark.offset === mark.offset,
      )
    const repeated = stored.filter((one) => !isStoredHere(one))
    return new Set(repeated.map(({ swap }) => eventKeyText(swap)))
  }
}

/**
 * Pages read at the same time over all accounts, so that clients that reconnect together leave
 * capacity in the store.
 */
const CONCURRENT_PAGES = 4
