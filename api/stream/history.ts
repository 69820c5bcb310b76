import { compareEventKeys, type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { SlotMarker } from '../../pipeline/domain/slot.ts'
import type { LateMark } from '../../pipeline/log/late-order.ts'
import { readStorageMarker } from '../../pipeline/store/read-storage-marker.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Account } from '../credits/meter.ts'
import {
  type CursorCodec,
  endOfSlot,
  type FeedPosition,
  hasCome,
  type LatePosition,
  lateAfter,
  lateBefore,
} from '../cursor.ts'
import { FairQueue } from '../fair-queue.ts'
import {
  readLate,
  readLateKeys,
  readPlaces,
  readStoredKeys,
  readStoredSwaps,
  readSwapsOf,
} from '../rows/feed-rows.ts'
import type { StoredSwap } from '../rows/swap-row.ts'
import type { StoragePosition } from '../storage-position.ts'
import { type Filter, matches } from './filter.ts'
import { frameText } from './frame.ts'
import { gapText, tradeText } from './protocol.ts'
import { createRetention } from './retention.ts'

/** One message of what a client catches up with, and where it is after it. */
export interface Step {
  /** Null: nothing is sent. */
  readonly frame: Buffer | null
  readonly isCharged: boolean
  readonly after: FeedPosition
}

export interface Page {
  readonly steps: readonly Step[]
  /** Where a client is after the page; the same position when storage has no more. */
  readonly end: FeedPosition
}

/** What a client that is behind wants next. */
export interface Wanted {
  readonly from: FeedPosition
  readonly filter: Filter
}

/** The feed's trades as storage has them, for clients that come back to what is out of memory (rule F4). Rejects with `unavailable` when it does not answer. */
export interface TradeHistory {
  /** Whether storage may know more than a client at this position has had; tells without asking it. */
  hasMore(position: FeedPosition): boolean
  /**
   * The next trades after a position that match, at most about a thousand. An account reads one
   * page at a time and accounts take turns. `wanted` is called right before the read and says what
   * the client wants by then; null: nothing, and the page is null without a query.
   */
  page(account: Account, wanted: () => Wanted | null): Promise<Page | null>
  /** The marker of the newest slot that is wholly stored. */
  marker(): Promise<SlotMarker | null>
  /** Of late swaps, the keys of those that are stored in another place: they came before. */
  cameBefore(
    late: readonly { readonly swap: EventKey; readonly mark: LateMark }[],
  ): Promise<ReadonlySet<string>>
}

/**
 * Reads pages as of the newest wholly stored slot: what came late behind earlier slots is there whole. A page is first what came late before the position since the
 * client left, marked, in the order in which it came; then what lies after the position, late trades in their place. What of late trades is behind the newest
 * stored slot itself is left for later. Fetched history (`backfill`) never comes.
 */
export function createTradeHistory(deps: {
  readonly store: Store
  /** The store as pages of an account read it: queries wait for the account's turn. */
  readonly storeOf: (account: Account) => Store
  readonly position: Pick<StoragePosition, 'stored'>
  readonly cursors: CursorCodec
  /** Of the log that is followed. */
  readonly epoch: number
  readonly retentionHours: number
  /** JSON of a trade, as it is served everywhere. */
  readonly render: (swap: StoredSwap) => string
}): TradeHistory {
  const { store, storeOf, position, cursors, epoch, render } = deps
  const retention = createRetention(store, deps.retentionHours)
  const queue = new FairQueue({ atOnce: PAGES_AT_ONCE, perAccount: 1 })
  const encode = (key: EventKey, late: LatePosition) => cursors.encode('trades', key, late)

  /** How many late trades are wholly stored by a slot. */
  const lateAt = (slot: number) => lateBefore(epoch, slot)

  async function page(own: Store, { from: { key, late }, filter }: Wanted): Promise<Page> {
    const stored = position.stored()
    if (stored === null) return { steps: [], end: { key, late } }
    const steps: Step[] = []
    const target = lateAt(stored.slot)
    const floor = await retention.floor(stored)
    let from = { key, late: late ?? target }
    if (floor !== null && compareEventKeys(key, endOfSlot(floor)) < 0) {
      const oldest = { key: endOfSlot(floor), late: target }
      const frame = frameText(gapText(encode(oldest.key, oldest.late)))
      steps.push({ frame, isCharged: false, after: oldest })
      from = oldest
    }
    if (isEarlier(from.late, target)) {
      const found = await latePage(own, from, target, filter)
      steps.push(...found.steps)
      if (!found.isLast) return { steps, end: { key, late: found.late } }
      from = { key: from.key, late: target }
    }
    const toSlot = Math.min(stored.slot, from.key.slot + SLOTS_PER_PAGE)
    if (toSlot < from.key.slot) return { steps, end: from }
    const ordered = await orderedPage(own, from, toSlot, filter)
    return { steps: [...steps, ...ordered.steps], end: ordered.end }
  }

  /** What came late before `key` since `late`, up to `target`. */
  async function latePage(
    store: Store,
    { key, late }: { key: EventKey; late: LatePosition },
    target: LatePosition,
    filter: Filter,
  ) {
    const rows = await readLate(store, late, target, LATE_PER_PAGE)
    const missed = rows.filter((row) => !hasCome(row.mark, late))
    const swaps = await readSwapsOf(
      store,
      missed.map((row) => row.key).filter((own) => compareEventKeys(own, key) <= 0),
    )
    const steps: Step[] = []
    let reached = late
    for (const { key: own, mark } of missed) {
      reached = lateAfter(reached, mark)
      const swap = swaps.get(eventKeyText(own))
      if (swap === undefined || !matches(filter, swap.wallet, swap.baseMint)) continue
      swaps.delete(eventKeyText(own)) // it may have two places
      const text = tradeText(encode(key, reached), render(swap), true)
      steps.push({ frame: frameText(text), isCharged: true, after: { key, late: reached } })
    }
    return { steps, late: reached, isLast: rows.length < LATE_PER_PAGE }
  }

  async function orderedPage(
    store: Store,
    { key, late }: { key: EventKey; late: LatePosition },
    toSlot: number,
    filter: Filter,
  ): Promise<Page> {
    const { swaps, gaps, end } = await readStoredSwaps(store, {
      after: key,
      toSlot,
      filter,
      limit: TRADES_PER_PAGE,
    })
    // After the swaps: whoever sees a late one stored sees its place.
    const { unsettled, newest } = await readLateKeys(store, late)
    const steps: Step[] = []
    const idOf = (own: EventKey) => {
      // The same position as live has, where that says the same: then its id is the same.
      const live = lateAt(own.slot)
      return newest !== null && !hasCome(newest, live) ? late : live
    }
    const tell = (swap: StoredSwap) => {
      if (unsettled.has(eventKeyText(swap))) return
      const own = keyOf(swap)
      const id = idOf(own)
      const text = tradeText(encode(own, id), render(swap), false)
      steps.push({ frame: frameText(text), isCharged: true, after: { key: own, late } })
    }
    let next = 0
    for (const gap of gaps) {
      const after = { key: endOfSlot(gap.toSlot), late }
      for (let swap = swaps[next]; swap && swap.slot <= gap.toSlot; swap = swaps[++next]) tell(swap)
      const frame = frameText(gapText(encode(after.key, late)))
      steps.push({ frame, isCharged: false, after })
    }
    for (const swap of swaps.slice(next)) tell(swap)
    return { steps, end: { key: end, late } }
  }

  return {
    hasMore({ key, late }) {
      const stored = position.stored()
      if (stored === null) return false
      const target = lateAt(stored.slot)
      // Somebody who knows of late trades that are not wholly stored waits until they are.
      if (late !== null && isEarlier(target, late)) return false
      if (compareEventKeys(key, endOfSlot(stored.slot)) < 0) return true
      return late !== null && isEarlier(late, target)
    },
    page: (account, wanted) =>
      queue.run(
        account,
        async () => {
          const next = wanted()
          return next && page(storeOf(account), next)
        },
        () => wanted() === null,
      ),
    marker: () => readStorageMarker(store),
    async cameBefore(late) {
      const keys = late.map(({ swap }) => swap)
      const stored = await readStoredKeys(store, keys)
      const known = late.filter(({ swap }) => stored.has(eventKeyText(swap)))
      if (known.length === 0) return new Set()
      const places = await readPlaces(store, keys)
      const isHere = ({ swap, mark }: (typeof known)[number]) =>
        places.some(
          (place) =>
            eventKeyText(place.key) === eventKeyText(swap) &&
            place.mark.epoch === mark.epoch &&
            place.mark.partition === mark.partition &&
            place.mark.offset === mark.offset,
        )
      return new Set(known.filter((one) => !isHere(one)).map(({ swap }) => eventKeyText(swap)))
    },
  }
}

/** Bounds of one page; the span of slots bounds what a filter makes storage read for nothing. */
const TRADES_PER_PAGE = 1000
const LATE_PER_PAGE = 256
const SLOTS_PER_PAGE = 10_000
/**
 * Pages read at the same time over all accounts: clients that come back together leave room in the
 * store.
 */
const PAGES_AT_ONCE = 4

function isEarlier(a: LatePosition, b: LatePosition): boolean {
  const behind = a.epoch - b.epoch || a.passedSlot - b.passedSlot
  return behind < 0 || (behind === 0 && a.offsets.length === 0 && b.offsets.length > 0)
}

const keyOf = ({ slot, txIndex, wallet, eventIndex }: StoredSwap): EventKey => ({
  slot,
  txIndex,
  wallet,
  eventIndex,
})
