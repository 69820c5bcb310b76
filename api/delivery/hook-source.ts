import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import type { Account } from '../credits/meter.ts'
import type { CursorCodec, FeedPosition } from '../cursor.ts'
import type { Filter } from '../rows/filter.ts'
import type { Feed } from '../stream/feed.ts'
import { followView } from '../stream/follow-view.ts'
import { textOfFrame } from '../stream/frame.ts'
import type { ViewChannel } from '../stream/messages.ts'
import {
  comparePositions,
  decodeView,
  encodeView,
  endOfTick,
  startOfSnapshot,
  type ViewPosition,
} from '../stream/view-position.ts'
import type { HookChannel } from '../webhooks/webhooks.ts'

/** A message of the feed, as a webhook delivers it. */
export interface HookMessage<Position> {
  /** The JSON text that `GET /ws` sends. */
  readonly text: string
  /** The `trade_id` of a trade, which costs a credit; null for other messages. */
  readonly trade: string | null
  /** The `trade_id` of the trade that a retraction takes back; null for other messages. */
  readonly retracts: string | null
  readonly after: Position
}

/** The next messages of a webhook. */
export interface NextMessages<Position> {
  readonly messages: readonly HookMessage<Position>[]
  /** The position after all of them. */
  readonly end: Position
  /** Whether more may be there already. */
  readonly hasMore: boolean
}

/** What a webhook asks for. */
export interface NextRequest<Position> {
  readonly account: Account
  readonly filter: Filter
  readonly after: Position
  /** How long to wait for the first message, in milliseconds. */
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** Where the messages of a webhook's channel come from. */
export interface HookSource<Position> {
  /** The position after everything that was published. */
  now(): Position
  encode(position: Position): string
  /** Null for text that is no position. */
  decode(text: string): Position | null
  /** Whether a client at `b` has had what one at `a` has had; late trades aside. */
  isWithin(a: Position, b: Position): boolean
  /**
   * Returns at most `MOST_MESSAGES` after a position; none after `waitMs`, or when the signal was
   * aborted. Retractions of one slot stay together, so there may be more of them. Rejects with
   * `unavailable` when storage does not answer.
   */
  next(request: NextRequest<Position>): Promise<NextMessages<Position>>
}

/** Messages in one delivery. */
export const MOST_MESSAGES = 100

/** The sources of all channels. */
export interface HookSources {
  readonly trades: HookSource<FeedPosition>
  /** That of a view, whose messages are free. */
  readonly view: (channel: ViewChannel) => HookSource<ViewPosition>
}

/** Creates the sources, over the feed of this process. */
export function hookSources(
  feed: Pick<Feed, 'position' | 'followUnseated' | 'views'>,
  cursors: CursorCodec,
): HookSources {
  return {
    trades: tradeSource(feed, cursors),
    view: (channel) => viewSource(feed, cursors, channel),
  }
}

/** Whether text is a position of a channel. */
export function isPositionOf(channel: HookChannel, cursors: CursorCodec, text: string): boolean {
  const decode = channel === 'trades' ? cursors.decodePosition : decodeView.bind(null, cursors)
  return decode(text) !== null
}

function tradeSource(
  feed: Pick<Feed, 'position' | 'followUnseated'>,
  cursors: CursorCodec,
): HookSource<FeedPosition> {
  return {
    now: () => feed.position(),
    encode: ({ key, late }) => cursors.encode('trades', key, late),
    decode: (text) => cursors.decodePosition(text),
    isWithin: (a, b) => compareEventKeys(a.key, b.key) <= 0,
    async next({ account, ...request }) {
      const wanted = { ...request, most: MOST_MESSAGES }
      const { steps, end, hasMore } = await feed.followUnseated(wanted, account)
      const messages = steps.flatMap(({ frame, isCharged, retracts = null, after }) => {
        if (frame === null) return []
        const text = textOfFrame(frame)
        return [{ text, trade: isCharged ? tradeIdOf(text) : null, retracts, after }]
      })
      return { messages, end, hasMore }
    },
  }
}

function tradeIdOf(text: string): string {
  return (JSON.parse(text) as { trade_id: string }).trade_id // of `tradeText`
}

function viewSource(
  feed: Pick<Feed, 'views'>,
  cursors: CursorCodec,
  channel: ViewChannel,
): HookSource<ViewPosition> {
  return {
    now() {
      const { newest } = feed.views()
      return newest === null ? startOfSnapshot(0) : endOfTick(newest)
    },
    encode: (position) => encodeView(cursors, position),
    decode: (text) => decodeView(cursors, text),
    isWithin: (a, b) => comparePositions(a, b) <= 0,
    async next({ filter: { mints }, ...request }) {
      const wanted = { ...request, channel, mints, most: MOST_MESSAGES }
      const { messages, end } = await followView(feed.views(), wanted)
      const free = messages.map((one) => ({ ...one, trade: null, retracts: null }))
      return { messages: free, end, hasMore: false }
    },
  }
}
