import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import {
  type FeedPosition,
  hasCome,
  isLateWithin,
  isWithin,
  lateAfter,
  lateBefore,
} from '../cursor.ts'
import { type Filter, matches } from '../rows/filter.ts'
import { type CatchUpStep, retractionStep, wasSent } from './catch-up-step.ts'
import { frameText } from './frame.ts'
import { tradeText } from './protocol.ts'
import type { Relay } from './relay.ts'

/**
 * Yields the steps from a position to the relay's current position, out of the relay's window. The
 * window must cover the position, and `hasReadLate` must hold. First come the late trades that
 * belong before the position and came after it, marked `late`, and retractions of trades before it.
 * Then come the entries after it in event-key order, late trades in their place (rule F4).
 *
 * Consume it synchronously: the next batch of the log changes the window. A consumer may stop at
 * any step. The position of that step then says exactly what was sent: every trade at or before its
 * key, and late trades up to its late position. `isSparse` leaves out steps without a message,
 * except the last one and those of late trades.
 */
export function* catchUpSteps(
  relay: Relay,
  from: FeedPosition,
  filter: Filter,
  isSparse = false,
): Generator<CatchUpStep> {
  const { window, position: now } = relay
  const { key } = from
  const start = from.late ?? now.late
  let late = start
  for (const entry of window.lateAfter(late)) {
    const isWanted = matches(filter, entry.key.wallet, entry.mint)
    if (entry.kind === 'retraction') {
      if (entry.isLast) late = lateAfter(late, entry.withdrawalMark)
      const isSent = isWanted && wasSent(entry, { key, late: start })
      yield isSent
        ? retractionStep(relay.encode(key, late), entry, { key, late })
        : { frame: null, isCharged: false, after: { key, late } }
      continue
    }
    late = lateAfter(late, entry.lateMark)
    if (compareEventKeys(entry.key, key) > 0) continue // sent below, in its place
    const frame = isWanted ? frameText(tradeText(relay.encode(key, late), entry, true)) : null
    yield { frame, isCharged: isWanted, after: { key, late } }
  }
  late = now.late
  const newest = window.newestLate
  for (let index = window.indexAfter(key); ; index++) {
    const entry = window.at(index)
    if (entry === undefined) break
    const after = { key: entry.key, late }
    if (entry.kind === 'gap') yield { frame: entry.live, isCharged: false, after }
    else if (!matches(filter, entry.key.wallet, entry.mint)) {
      if (!isSparse) yield { frame: null, isCharged: false, after }
    } else {
      // The frame sent live has the right id, unless a late trade came after it.
      const live = lateBefore(relay.epoch, entry.key.slot)
      const isSame = entry.lateMark === null && (newest === null || hasCome(newest, live))
      const text = isSame ? null : tradeText(relay.encode(entry.key, late), entry, false)
      yield { frame: text === null ? entry.live : frameText(text), isCharged: true, after }
    }
  }
  const end = { key: compareEventKeys(key, now.key) > 0 ? key : now.key, late }
  yield { frame: null, isCharged: false, after: end }
}

/**
 * Whether the relay has passed this position. It has not if the position comes from another process
 * whose relay was ahead of this one.
 */
export function isPassed(relay: Relay, position: FeedPosition): boolean {
  return isWithin(position, relay.position)
}

/**
 * Whether the relay has read every late trade and withdrawal that this position includes. Otherwise
 * its window may still have trades whose withdrawal the client counts as received.
 */
export function hasReadLate(relay: Relay, { late }: FeedPosition): boolean {
  return late === null || isLateWithin(late, relay.position.late)
}
