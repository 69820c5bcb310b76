import type { Account } from '../credits/meter.ts'
import { textOfFrame } from './frame.ts'
import type { ServerMessage, ViewChannel } from './messages.ts'
import { startOfSnapshot, type ViewPosition } from './view-position.ts'
import type { ViewPage, ViewRelay } from './view-relay.ts'

/** What a webhook wants that follows a view. */
export interface FollowViewRequest {
  readonly account: Account
  readonly channel: ViewChannel
  /** Null: every token. */
  readonly mints: ReadonlySet<string> | null
  readonly after: ViewPosition
  /** How many messages; the end of a snapshot may come in addition. */
  readonly most: number
  /** How long to wait for the first message, in milliseconds. */
  readonly waitMs: number
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal
}

/** Messages of a view after a position, in the order in which they are sent. */
export interface FollowedView {
  readonly messages: readonly { readonly text: string; readonly after: ViewPosition }[]
  /** The position after all of them. */
  readonly end: ViewPosition
}

/**
 * Returns the messages of a view after a position, as catching up on the feed sends them. Without
 * any it waits until a tick has one, or until `waitMs` have passed. Rejects with `unavailable` when
 * storage does not answer.
 */
export async function followView(
  relay: ViewRelay,
  request: FollowViewRequest,
): Promise<FollowedView> {
  const { account, waitMs, signal } = request
  const deadline = performance.now() + waitMs
  const reader = { wallet: account, isStale: () => signal.aborted }
  let position = request.after
  let seconds = FIRST_PAGE_SECONDS
  for (;;) {
    const { newest } = relay
    if (position.at === 0 && newest !== null) position = startOfSnapshot(newest)
    const isBehind = newest !== null && position.at <= newest && !relay.isReached(position)
    if (isBehind && !signal.aborted) {
      const page = await relay.page(position, seconds, reader)
      if (page === null) return { messages: [], end: position }
      const followed = messagesOf(relay, page, request)
      if (followed.messages.length > 0) return followed
      position = followed.end
      seconds = Math.min(seconds * 2, MOST_PAGE_SECONDS)
    }
    const leftMs = deadline - performance.now()
    if (leftMs <= 0 || signal.aborted) return { messages: [], end: position }
    if (!isBehind) await nextTick(relay, leftMs, signal)
  }
}

const FIRST_PAGE_SECONDS = 10
const MOST_PAGE_SECONDS = 3600

function messagesOf(
  relay: ViewRelay,
  { entries, gap, isSnapshot, end }: ViewPage,
  { channel, mints, most }: FollowViewRequest,
): FollowedView {
  if (gap !== null) return { messages: [{ text: textOfFrame(gap), after: end }], end }
  const wanted = entries.filter(
    (entry) => entry.channel === channel && (mints === null || mints.has(entry.mint)),
  )
  const taken = wanted.slice(0, most)
  const messages = taken.map(({ frame, after }) => ({ text: textOfFrame(frame), after }))
  const last = taken.at(-1)
  if (last !== undefined && wanted.length > most) return { messages, end: last.after }
  if (isSnapshot) {
    const complete: ServerMessage = { type: 'snapshot_complete', cursor: relay.encode(end) }
    messages.push({ text: JSON.stringify(complete), after: end })
  }
  return { messages, end }
}

/** Resolves at the next tick, after `ms`, or when the signal was aborted. */
async function nextTick(relay: ViewRelay, ms: number, signal: AbortSignal): Promise<void> {
  let wake: () => void = () => {}
  const woken = new Promise<void>((resolve) => {
    wake = resolve
  })
  const unlisten = relay.listen(() => wake())
  const timer = setTimeout(wake, ms)
  signal.addEventListener('abort', wake)
  await woken
  clearTimeout(timer)
  signal.removeEventListener('abort', wake)
  unlisten()
}
