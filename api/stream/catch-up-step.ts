import { compareEventKeys, type EventKey } from '../../pipeline/domain/event-key.ts'
import type { LateMark } from '../../pipeline/log/late-order.ts'
import { type FeedPosition, hasCome, type LatePosition } from '../cursor.ts'
import { frameText } from './frame.ts'
import { retractedText, type TradeContent } from './protocol.ts'

/** One step of a client that catches up: a message, and the client's position after it. */
export interface CatchUpStep {
  /** The message as a WebSocket frame; null when only the position moves. */
  readonly frame: Buffer | null
  /** Whether the message costs one credit. */
  readonly isCharged: boolean
  /** The `trade_id` of the trade that the message withdraws; absent for other messages. */
  readonly retracts?: string
  readonly after: FeedPosition
}

/** The step of a retraction, with this `id`. */
export function retractionStep(id: string, trade: TradeContent, after: FeedPosition): CatchUpStep {
  const frame = frameText(retractedText(id, trade))
  return { frame, isCharged: false, retracts: trade.tradeId, after }
}

/** Whether a client at a position has had a trade; `lateMark`: its place among late ones. */
export function wasSent(
  trade: { readonly key: EventKey; readonly lateMark: LateMark | null },
  { key, late }: { readonly key: EventKey; readonly late: LatePosition },
): boolean {
  if (compareEventKeys(trade.key, key) > 0) return false
  return trade.lateMark === null || hasCome(trade.lateMark, late)
}
