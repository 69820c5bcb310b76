import type { Account } from '../credits/meter.ts'
import type { FeedPosition } from '../cursor.ts'
import type { FeedKey } from '../middleware/upgrade.ts'
import type { Filter } from '../rows/filter.ts'
import type { CatchUpStep } from './catch-up-step.ts'
import { catchUpSteps, hasReadLate } from './catch-up-steps.ts'
import type { Relay } from './relay.ts'
import type { TradeHistory } from './trade-history.ts'
import { TradeWait } from './trade-wait.ts'

/** What a call wants that follows trades. */
export interface FollowRequest {
  readonly key: FeedKey
  readonly filter: Filter
  /** Messages after this position; null: from now on. */
  readonly after: FeedPosition | null
  /** How many messages; more only where one withdrawal takes back more. */
  readonly most: number
  /** How long to wait for the first message, in milliseconds. */
  readonly waitMs: number
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
}

/** Messages of the feed after a position, in the order in which they are sent. */
export interface FollowedTrades {
  /** Steps that have a message. */
  readonly steps: readonly CatchUpStep[]
  /** The position after all of them. */
  readonly end: FeedPosition
  /** Whether more may be there already. */
  readonly hasMore: boolean
}

/** What following trades needs. */
export interface FollowTradesDeps {
  readonly relay: Relay
  readonly history: Pick<TradeHistory, 'hasMore' | 'page'>
  /** Registers a wait as a connection. Returns what removes it. */
  register(wait: TradeWait): () => void
}

/**
 * Returns the messages after a position, as catching up on the feed sends them (rule F4): from
 * storage, then from the window of the relay. Without any it waits until one is published, or until
 * `waitMs` have passed. Only then is it a wait of its account. Rejects with `unavailable` when
 * storage does not answer, and with the refusal of a wait that was ended.
 */
export async function followTrades(
  deps: FollowTradesDeps,
  request: FollowRequest,
): Promise<FollowedTrades> {
  const { relay, history, register } = deps
  const { key, filter, most, waitMs, signal } = request
  const deadline = performance.now() + waitMs
  const wait = new TradeWait(key)
  let unregister: (() => void) | null = null
  let position: FeedPosition = request.after ?? relay.position
  try {
    for (;;) {
      const isInWindow = relay.window.covers(position)
      let isBehind = false
      if (isInWindow && hasReadLate(relay, position)) {
        const taken = take(catchUpSteps(relay, position, filter, true), position, most)
        if (taken.steps.length > 0) return taken
        position = taken.end
      } else if (!isInWindow && history.hasMore(position)) {
        const from = position
        const page = await readPage(history, key.account, { from, filter })
        const taken = take(page.steps, from, most)
        const end = taken.hasMore ? taken.end : page.end
        if (taken.steps.length > 0) return { steps: taken.steps, end, hasMore: true }
        position = end
        isBehind = true
      }
      const leftMs = deadline - performance.now()
      if (leftMs <= 0 || signal.aborted) return { steps: [], end: position, hasMore: isBehind }
      if (isBehind) continue
      unregister ??= register(wait)
      // What storage alone has is not published.
      await wait.next(isInWindow ? leftMs : Math.min(leftMs, STORAGE_RETRY_MS), signal)
    }
  } finally {
    unregister?.()
  }
}

async function readPage(
  history: FollowTradesDeps['history'],
  account: Account,
  request: { readonly from: FeedPosition; readonly filter: Filter },
) {
  const page = await history.page(account, () => request)
  return page ?? { steps: [], end: request.from }
}

/** How often a wait looks whether storage has caught up. */
const STORAGE_RETRY_MS = 200

/**
 * Takes steps until `most` have a message. It does not stop between the retractions of one
 * withdrawal, which share a position: the next call would get them again.
 */
function take(steps: Iterable<CatchUpStep>, from: FeedPosition, most: number): FollowedTrades {
  const taken: CatchUpStep[] = []
  let end = from
  let mayStop = true
  for (const step of steps) {
    const { frame, retracts, after } = step
    if (frame !== null && taken.length >= most && mayStop)
      return { steps: taken, end, hasMore: true }
    const isPast = after.late !== end.late
    mayStop = isPast || (retracts === undefined && (frame !== null || mayStop))
    end = after
    if (frame !== null) taken.push(step)
  }
  return { steps: taken, end, hasMore: false }
}

/** Returns the first part of what was found, with at most `trades` charged messages. */
export function firstPart(
  followed: FollowedTrades,
  trades: number,
  from: FeedPosition,
): FollowedTrades {
  const { steps } = followed
  let charged = 0
  const cut = steps.findIndex(({ isCharged }) => isCharged && ++charged > trades)
  if (cut === -1) return followed
  const kept = steps.slice(0, cut)
  return { steps: kept, end: kept.at(-1)?.after ?? from, hasMore: true }
}
