import type { BlockId } from '../../pipeline/domain/block-id.ts'
import { compareEventKeys, type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { compareLatePlaces } from '../../pipeline/store/tables/late-swaps.ts'
import { readFirstSwap, type StoredSwap } from '../../pipeline/store/tables/swaps.ts'
import {
  type CursorCodec,
  endOfSlot,
  type FeedPosition,
  hasCome,
  type LatePosition,
  lateAfter,
  lateBefore,
} from '../cursor.ts'
import { readLateKeys, readLateRows, readStoredSwaps, readSwapsOf } from '../rows/feed-rows.ts'
import { type Filter, matches } from '../rows/filter.ts'
import type { StoredSlot } from '../state-reader.ts'
import { type CatchUpStep, retractionStep, wasSent } from './catch-up-step.ts'
import { frameText } from './frame.ts'
import { gapText, type TradeContent, tradeText } from './protocol.ts'
import { createRetention, type Retention } from './retention.ts'

/** A page of stored trades, in the order in which they are sent. */
export interface HistoryPage {
  readonly steps: readonly CatchUpStep[]
  /** The client's position after the page. Equal to its position before when nothing is stored. */
  readonly end: FeedPosition
}

/** The next page of a client that catches up: trades after `from` that match the filter. */
export interface PageRequest {
  readonly from: FeedPosition
  readonly filter: Filter
}

/** Dependencies of a page reader: the store and the renderer of trades. */
export interface HistoryPageReaderDeps {
  /** The store in which the age of trades is looked up. */
  readonly store: Store
  readonly cursors: CursorCodec
  /** Epoch of the log that the relay follows. */
  readonly epoch: number
  readonly retentionHours: number
  /** Renders a trade as JSON, as `GET /trades` serves it. */
  readonly render: (swap: StoredSwap) => string
}

/**
 * Reads pages of trades as of the newest completely stored slot: late trades marked by earlier
 * slots are completely stored, too. A page has two parts. The first is the late trades that belong
 * before the client's position and came after it left, marked `late`, in the order of the log, with
 * retractions of trades that it had. The second is the trades after the position in event-key
 * order, late ones in their place. Late trades marked by the newest stored slot itself are left for
 * a later page. Fetched history (`backfill`) is never part of a page.
 */
export class HistoryPageReader {
  readonly #deps: HistoryPageReaderDeps
  readonly #retention: Retention

  constructor(deps: HistoryPageReaderDeps) {
    this.#deps = deps
    this.#retention = createRetention(deps.store, deps.retentionHours)
  }

  /** Reads one page from `store`. `stored` is the newest completely stored slot. */
  async read(
    store: Store,
    { from, filter }: PageRequest,
    stored: StoredSlot,
  ): Promise<HistoryPage> {
    const storedLate = this.#lateAt(stored.slot)
    const gap = await this.#gap(from, stored, storedLate)
    const start = gap?.after ?? (await this.#skipEmpty(store, from, stored))
    const position = { key: start.key, late: start.late ?? storedLate }
    const steps = gap === null ? [] : [gap]
    if (isBefore(position.late, storedLate)) {
      const late = await this.#latePart(store, position, storedLate, filter)
      steps.push(...late.steps)
      if (!late.isLast) return { steps, end: { key: position.key, late: late.end } }
    }
    const next = { key: position.key, late: laterOf(position.late, storedLate) }
    const toSlot = Math.min(stored.slot, next.key.slot + SLOTS_PER_PAGE)
    if (toSlot < next.key.slot) return { steps, end: next }
    const ordered = await this.#orderedPart(store, next, toSlot, filter)
    return { steps: [...steps, ...ordered.steps], end: ordered.end }
  }

  /** The `gap` message of a position that is older than the retention; null for a newer one. */
  async #gap(
    { key }: FeedPosition,
    stored: StoredSlot,
    storedLate: LatePosition,
  ): Promise<CatchUpStep | null> {
    const floor = await this.#retention.floor(stored)
    if (floor === null || compareEventKeys(key, endOfSlot(floor)) >= 0) return null
    const after = { key: endOfSlot(floor), late: storedLate }
    const frame = frameText(gapText(this.#encode(after.key, after.late)))
    return { frame, isCharged: false, after }
  }

  /**
   * The position before the first stored trade, for a client that was there before any slot was
   * published: slots are numbered from a high one on, and a page covers `SLOTS_PER_PAGE`.
   */
  async #skipEmpty(store: Store, from: FeedPosition, stored: StoredSlot): Promise<FeedPosition> {
    if (from.key.slot > 0) return from
    const first = await readFirstSwap(store, 0)
    const empty = Math.min((first?.slot ?? stored.slot + 1) - 1, stored.slot)
    return { key: empty > 0 ? endOfSlot(empty) : from.key, late: from.late }
  }

  /**
   * Late trades before `key` that came after `late`, up to the late position `target`; and
   * retractions between the two of trades that were sent before.
   */
  async #latePart(
    store: Store,
    position: { readonly key: EventKey; readonly late: LatePosition },
    target: LatePosition,
    filter: Filter,
  ) {
    const { key, late } = position
    const { rows, isLast } = await readLateRows(store, late, target)
    const before = rows
      .filter((row) => row.kind === 'late' && compareEventKeys(row.key, key) <= 0)
      .map((row) => row.key)
    const swaps = await readSwapsOf(store, before)
    const steps: CatchUpStep[] = []
    let end = late
    for (const [at, row] of rows.entries()) {
      const next = rows[at + 1]
      // The swaps of a withdrawal share a place, which is reached with the last one.
      if (next === undefined || compareLatePlaces(row.mark, next.mark) !== 0)
        end = lateAfter(end, row.mark)
      const swap = row.kind === 'withdrawn' ? row.swap : swaps.get(eventKeyText(row.key))
      if (swap === undefined || !matches(filter, swap.wallet, swap.baseMint)) continue
      const after = { key, late: end }
      const id = this.#encode(key, end)
      const content = this.#contentOf(swap, row.blockId)
      if (row.kind === 'late') {
        swaps.delete(eventKeyText(row.key)) // a swap may be on the log twice; it is sent once
        steps.push({ frame: frameText(tradeText(id, content, true)), isCharged: true, after })
      } else if (wasSent(row, position)) steps.push(retractionStep(id, content, after))
    }
    return { steps, end, isLast }
  }

  #contentOf(swap: StoredSwap, blockId: BlockId | null): TradeContent {
    const tradeId = this.#deps.cursors.tradeId(keyOf(swap), blockId)
    return { tradeId, data: this.#deps.render(swap) }
  }

  /** Trades and gaps after `key` up to the end of `toSlot`, in event-key order. */
  async #orderedPart(
    store: Store,
    { key, late }: { readonly key: EventKey; readonly late: LatePosition },
    toSlot: number,
    filter: Filter,
  ): Promise<HistoryPage> {
    const query = { after: key, toSlot, filter, limit: TRADES_PER_PAGE }
    const { swaps, gaps, end } = await readStoredSwaps(store, query)
    // Read after the swaps: a late swap that is read above has its place stored by now.
    const { unsettled, newest } = await readLateKeys(store, late)
    const settled = swaps.filter((swap) => !unsettled.has(eventKeyText(swap)))
    const steps = [
      ...settled.map((swap) => this.#tradeStep(swap, late, newest)),
      ...gaps.map((gap) => this.#gapStep(endOfSlot(gap.toSlot), late)),
    ]
    steps.sort((a, b) => compareEventKeys(a.after.key, b.after.key))
    return { steps, end: { key: end, late } }
  }

  #tradeStep(
    swap: StoredSwap & { readonly blockId: BlockId | null },
    late: LatePosition,
    newestLate: Awaited<ReturnType<typeof readLateKeys>>['newest'],
  ): CatchUpStep {
    const key = keyOf(swap)
    // A live connection gets `live` as late position. Where it means the same, the id is the same.
    const live = this.#lateAt(key.slot)
    const isSame = newestLate === null || hasCome(newestLate, live)
    const id = this.#encode(key, isSame ? live : late)
    const frame = frameText(tradeText(id, this.#contentOf(swap, swap.blockId), false))
    return { frame, isCharged: true, after: { key, late } }
  }

  #gapStep(key: EventKey, late: LatePosition): CatchUpStep {
    const frame = frameText(gapText(this.#encode(key, late)))
    return { frame, isCharged: false, after: { key, late } }
  }

  /** The late position up to which late trades are completely stored when a slot is. */
  #lateAt(slot: number): LatePosition {
    return lateBefore(this.#deps.epoch, slot)
  }

  #encode(key: EventKey, late: LatePosition): string {
    return this.#deps.cursors.encode('trades', key, late)
  }
}

/** Limits of one page. The limit on slots bounds what a narrow filter makes storage scan. */
const TRADES_PER_PAGE = 1000
const SLOTS_PER_PAGE = 10_000

/** Whether late position `a` lies before `b`. */
export function isBefore(a: LatePosition, b: LatePosition): boolean {
  const difference = a.epoch - b.epoch || a.passedSlot - b.passedSlot
  return difference < 0 || (difference === 0 && a.offsets.length === 0 && b.offsets.length > 0)
}

function laterOf(a: LatePosition, b: LatePosition): LatePosition {
  return isBefore(a, b) ? b : a
}

function keyOf({ slot, txIndex, wallet, eventIndex }: StoredSwap): EventKey {
  return { slot, txIndex, wallet, eventIndex }
}
