import type { BlockId } from '../../pipeline/domain/block-id.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { SlotMarker } from '../../pipeline/domain/slot.ts'
import { withValue } from '../../pipeline/domain/swap-value.ts'
import type { LateMark } from '../../pipeline/log/late-order.ts'
import {
  type CursorCodec,
  endOfSlot,
  type FeedPosition,
  type LatePosition,
  lateAfter,
  lateBefore,
} from '../cursor.ts'
import type { PublishedSwap } from '../items/trade.ts'
import { frameText } from './frame.ts'
import { gapText, retractedText, tradeText } from './protocol.ts'
import type { MergerOutput } from './slot-merger.ts'
import type { FeedEntry, FeedGap, FeedRetraction, FeedTrade } from './trade-window.ts'

/** A position of the feed whose late position is known. */
export type RelayPosition = FeedPosition & { readonly late: LatePosition }

/** Dependencies of an entry renderer. */
export interface EntryRendererDeps {
  readonly cursors: CursorCodec
  /** Epoch of the log that the relay follows. */
  readonly epoch: number
  /** Renders a trade as JSON, as `GET /trades` serves it. */
  readonly render: (swap: PublishedSwap & EventKey) => string
}

type LateOutput = Extract<MergerOutput, { kind: 'late' }>

/**
 * Renders what the slot merger gives to entries of the feed, and keeps the position after them. The
 * `id` of a late trade or a gap is that position. The `id` of a trade in order is the trade's own
 * key. A client that resumes from an `id` has had every trade at or before its key, and late trades
 * up to its late position.
 */
export class EntryRenderer {
  readonly #deps: EntryRendererDeps
  #position: RelayPosition
  /** Cursor of `#position`; null until it is asked for. */
  #cursor: string | null = null

  constructor(deps: EntryRendererDeps, start: RelayPosition) {
    this.#deps = deps
    this.#position = start
  }

  /** The position after everything rendered so far. */
  get position(): RelayPosition {
    return this.#position
  }

  /** Cursor of `position`. */
  get cursor(): string {
    this.#cursor ??= this.encode(this.#position.key, this.#position.late)
    return this.#cursor
  }

  /** Encodes a position as a cursor of scope `trades`. */
  encode(key: EventKey, late: LatePosition): string {
    return this.#deps.cursors.encode('trades', key, late)
  }

  /** Moves the position without rendering anything. */
  moveTo(position: RelayPosition): void {
    this.#position = position
    this.#cursor = null
  }

  /** Moves the position behind a late trade or a withdrawal. */
  moveBehind(mark: LateMark): void {
    const { key, late } = this.#position
    this.moveTo({ key, late: lateAfter(late, mark) })
  }

  /** Renders one output in the order in which it is sent. `at` is the relay's time in ms. */
  render(output: Exclude<MergerOutput, { kind: 'withdrawn' }>, at: number): FeedEntry[] {
    if (output.kind === 'late') return [this.#renderLate(output, at)]
    if (output.kind === 'gap') return [this.#renderGap(output.toSlot, at)]
    return this.#renderSlot(output.marker, output.swaps, at)
  }

  /** Renders the retractions of trades that one withdrawal voids. */
  renderRetractions(
    trades: readonly FeedTrade[],
    withdrawalMark: LateMark,
    at: number,
  ): FeedRetraction[] {
    return trades.map((trade, index) => {
      const isLast = index === trades.length - 1
      if (isLast) this.moveBehind(withdrawalMark)
      const { key, mint, lateMark, tradeId, data } = trade
      const live = frameText(retractedText(this.cursor, trade))
      return {
        kind: 'retraction',
        key,
        mint,
        lateMark,
        tradeId,
        data,
        withdrawalMark,
        isLast,
        live,
        at,
      }
    })
  }

  #renderLate({ swap, blockId, mark }: LateOutput, at: number): FeedTrade {
    const before = this.#position
    this.moveBehind(mark)
    return this.#renderTrade(swap, { lateMark: mark, blockId, id: this.cursor, before, at })
  }

  #renderGap(toSlot: number, at: number): FeedGap {
    const key = endOfSlot(toSlot)
    this.moveTo({ key, late: lateBefore(this.#deps.epoch, toSlot) })
    return { kind: 'gap', key, live: frameText(gapText(this.cursor)), at }
  }

  #renderSlot({ slot, blockId }: SlotMarker, swaps: readonly Swap[], at: number): FeedTrade[] {
    const late = lateBefore(this.#deps.epoch, slot)
    let previous = this.#position.key
    this.moveTo({ key: endOfSlot(slot), late })
    return swaps.map((swap) => {
      const key = keyOf(swap)
      const before = { key: previous, late }
      previous = key
      const id = this.encode(key, late)
      return this.#renderTrade(swap, { lateMark: null, blockId, id, before, at })
    })
  }

  #renderTrade(
    swap: Swap,
    of: Pick<FeedTrade, 'lateMark' | 'before' | 'at'> & {
      readonly id: string
      readonly blockId: BlockId | null
    },
  ): FeedTrade {
    const { lateMark, id, blockId, before, at } = of
    const key = keyOf(swap)
    const tradeId = this.#deps.cursors.tradeId(key, blockId)
    const data = this.#deps.render(withValue(swap))
    const live = frameText(tradeText(id, { tradeId, data }, lateMark !== null))
    return { kind: 'trade', key, mint: swap.baseMint, lateMark, tradeId, live, data, before, at }
  }
}

function keyOf({ slot, txIndex, wallet, eventIndex }: EventKey): EventKey {
  return { slot, txIndex, wallet, eventIndex }
}
