import { compareEventKeys, type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { StateChange } from '../../pipeline/log/state-log.ts'
import type { Store } from '../../pipeline/store/store.ts'
import {
  compareLatePlaces,
  type LateRow,
  lateOfRow,
  readLate,
  type StoredLateRow,
} from '../../pipeline/store/tables/late-swaps.ts'
import { type StoredSwap, type SwapRow, swapOfRow } from '../../pipeline/store/tables/swaps.ts'
import { hasCome, lateBefore } from '../cursor.ts'
import type { StateModel, StoredSlot } from '../state-reader.ts'
import { type LateKeys, readLateKeys } from './feed-rows.ts'
import { firstWhere } from './first-where.ts'
import { newestSwapRows, readNewestSwaps } from './newest-swaps.ts'

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

/** The newest stored swaps of all wallets, in memory. Older ones come from the store. */
export class RecentSwaps implements StateModel {
  readonly #epoch: number
  readonly #most: number
  /** Oldest first: all swaps from `#from` on (null: from the first stored one). */
  #swaps: StoredSwap[] = []
  #from: EventKey | null = null
  /** Versions of swaps from `#from` on that were deleted: an older row may be stored once more. */
  readonly #deleted = new Map<string, StoredSwap>()
  #slot = 0
  /** Late swaps that are not before the marker, by place. */
  readonly #late = new Map<string, LateRow>()
  #lateKeys: LateKeys = { unsettled: new Set(), newest: null }

  /** `epoch`: of the log that late swaps come from. `most`: how many swaps are kept. */
  constructor(epoch: number, most = 20_000) {
    this.#epoch = epoch
    this.#most = most
  }

  async load(store: Store, stored: StoredSlot | null): Promise<void> {
    const newest: StoredSwap[] = []
    const all = { stored: Number.MAX_SAFE_INTEGER }
    for await (const rows of newestSwapRows(store, all, null, ROWS_AT_ONCE)) {
      for (const row of rows) {
        const swap = swapOfRow(row)
        if (row.is_deleted === 0) newest.push(swap)
        else this.#deleted.set(eventKeyText(swap), swap)
      }
      if (newest.length >= this.#most) break
    }
    const isWhole = newest.length < this.#most
    const position = lateBefore(this.#epoch, stored?.slot ?? 0)
    this.#lateKeys = await readLateKeys(store, position)
    for (const late of await readLate(store, position, null, this.#most)) this.#takeLate(late)
    this.#swaps = newest.reverse()
    this.#from = isWhole ? null : (newest[0] ?? null)
  }

  apply(changes: readonly StateChange[], { slot }: StoredSlot): void {
    // A change is a row of its table.
    for (const { table, row } of changes)
      if (table === 'swaps') this.#take(row as unknown as SwapRow)
      else if (table === 'late_swaps') this.#takeLate(lateOfRow(row as unknown as StoredLateRow))
    this.#slot = slot
    this.#settleLate()
    // A quarter too many, so that not every marker evicts some.
    if (this.#swaps.length <= this.#most * 1.25) return
    this.#swaps.splice(0, this.#swaps.length - this.#most)
    const [from = null] = this.#swaps
    this.#from = from
    for (const [key, swap] of this.#deleted)
      if (from !== null && compareEventKeys(swap, from) < 0) this.#deleted.delete(key)
  }

  /**
   * Returns the newest `limit` swaps strictly older than `before` (null: of all) as of the marker;
   * null if they are not all in memory (`readSwapsPage`).
   */
  page(before: EventKey | null, limit: number): SwapsPage | null {
    const stored = this.#countOlder({ slot: this.#slot + 1, txIndex: 0, wallet: 0, eventIndex: 0 })
    const end = before === null ? stored : Math.min(stored, this.#countOlder(before))
    if (end < limit && this.#from !== null) return null
    return {
      swaps: this.#swaps.slice(Math.max(0, end - limit), end).reverse(),
      slot: this.#slot,
      newest: this.#swaps[stored - 1] ?? null,
      late: this.#lateKeys,
    }
  }

  #take(row: SwapRow): void {
    const swap = swapOfRow(row)
    if (this.#from !== null && compareEventKeys(swap, this.#from) < 0) return
    const key = eventKeyText(swap)
    const at = this.#countOlder(swap)
    const next = this.#swaps[at]
    const isThere = next !== undefined && compareEventKeys(next, swap) === 0
    const known = this.#deleted.get(key) ?? (isThere ? next : undefined)
    if (known !== undefined && known.version > swap.version) return
    const isDeleted = row.is_deleted !== 0
    if (isDeleted) this.#deleted.set(key, swap)
    else this.#deleted.delete(key)
    this.#swaps.splice(at, isThere ? 1 : 0, ...(isDeleted ? [] : [swap]))
  }

  #takeLate(late: LateRow): void {
    const { epoch, passedSlot, partition, offset } = late.mark
    const place = `${epoch}/${passedSlot}/${partition}/${offset}`
    // A place without a swap: it was withdrawn.
    if (late.key.slot === 0) this.#late.delete(place)
    else this.#late.set(place, late)
  }

  #settleLate(): void {
    const position = lateBefore(this.#epoch, this.#slot)
    let { newest } = this.#lateKeys
    for (const [place, { mark }] of this.#late) {
      if (!hasCome(mark, position)) continue
      if (newest === null || compareLatePlaces(mark, newest) > 0) newest = mark
      this.#late.delete(place)
    }
    const unsettled = new Set([...this.#late.values()].map(({ key }) => eventKeyText(key)))
    this.#lateKeys = { unsettled, newest }
  }

  /** Number of swaps strictly older than the key. */
  #countOlder(key: EventKey): number {
    const swaps = this.#swaps
    return firstWhere(swaps.length, (at) => compareEventKeys(swaps[at]!, key) >= 0)
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
  const all = { stored: slot }
  const [swaps, first] = await Promise.all([
    readNewestSwaps(store, all, before, limit),
    before === null ? null : readNewestSwaps(store, all, null, 1),
  ])
  const [newest = null] = first ?? swaps
  return { swaps, slot, newest, late: await readLateKeys(store, lateBefore(epoch, slot)) }
}

const ROWS_AT_ONCE = 2000
