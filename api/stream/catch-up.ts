import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import {
  type FeedPosition,
  hasCome,
  isWithin,
  type LatePosition,
  lateAfter,
  lateBefore,
} from '../cursor.ts'
import { type Filter, matches } from './filter.ts'
import { frameText } from './frame.ts'
import type { Step } from './history.ts'
import { tradeText } from './protocol.ts'
import type { Relay } from './relay.ts'

/**
 * What lies between a position and now, from the relay's window, which covers it: first what came late before the position since, marked; then what lies after it, in
 * event-key order, late trades in their place (rule F4). To be walked in one turn: the next trade of the log makes it stale.
 *
 * Wherever it is left, the position of the last step says exactly what has been had: every trade at or before its key, late ones only as far as it says.
 */
export function* stepsToNow(relay: Relay, from: FeedPosition, filter: Filter): Generator<Step> {
  const { window, position: now } = relay
  const { key } = from
  let late = from.late ?? now.late
  for (const trade of window.lateAfter(late)) {
    if (trade.mark === null) continue
    late = lateAfter(late, trade.mark)
    if (compareEventKeys(trade.key, key) > 0) continue // it will be met in its place
    const isWanted = matches(filter, trade.key.wallet, trade.mint)
    const frame = isWanted ? frameText(tradeText(relay.encode(key, late), trade.data, true)) : null
    yield { frame, isCharged: isWanted, after: { key, late } }
  }
  late = later(late, now.late)
  const newest = window.newestLate
  for (let index = window.indexAfter(key); ; index++) {
    const entry = window.at(index)
    if (entry === undefined) break
    const after = { key: entry.key, late }
    if (entry.kind === 'gap') yield { frame: entry.live, isCharged: false, after }
    else if (!matches(filter, entry.key.wallet, entry.mint))
      yield { frame: null, isCharged: false, after }
    else {
      // Sent live it had an id that says as much, unless something came late since.
      const live = lateBefore(relay.epoch, entry.key.slot)
      const isSame = entry.mark === null && (newest === null || hasCome(newest, live))
      const text = isSame ? null : tradeText(relay.encode(entry.key, late), entry.data, false)
      yield { frame: text === null ? entry.live : frameText(text), isCharged: true, after }
    }
  }
  const end = { key: compareEventKeys(key, now.key) > 0 ? key : now.key, late }
  yield { frame: null, isCharged: false, after: end }
}

/** Whether somebody at this position has had nothing that did not go out here yet: another process may have been ahead. */
export function isReached(relay: Relay, position: FeedPosition): boolean {
  return isWithin(position, relay.position)
}

/** Everything that has come by one or the other, of two positions on the way of one log. */
function later(a: LatePosition, b: LatePosition): LatePosition {
  const ahead = a.epoch - b.epoch || a.passedSlot - b.passedSlot
  if (ahead !== 0) return ahead > 0 ? a : b
  const offsets = new Map(b.offsets)
  for (const [partition, offset] of a.offsets)
    offsets.set(partition, Math.max(offset, offsets.get(partition) ?? 0))
  return { ...b, offsets: [...offsets].sort(([x], [y]) => x - y) }
}
