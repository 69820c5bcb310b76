import test from 'ava'
import { LeaderWatch } from './leader-watch.ts'

const LIMITS = { leaderLostMs: 1000, leaderUnknownMs: 4000, leaderStuckMs: 10_000 }

/**
 * A watch of two partitions that have the marker of slot 10. It has seen the leader append three
 * slots, each `delayMs` after it had the slot itself.
 */
function watchAt10(delayMs = 100): LeaderWatch {
  const watch = new LeaderWatch(2, LIMITS, -10_000)
  for (const slot of [7, 8, 9, 10]) append(watch, slot, 0, delayMs)
  return watch
}

function append(watch: LeaderWatch, slot: number, at: number, delayMs: number): void {
  if (slot > 7) watch.onReceived(slot, slot - 1, at - delayMs)
  for (const partition of [0, 1]) watch.onMarker(partition, slot, at)
}

test('a leader is lost once the next slot of the chain waits too long, and not before', (t) => {
  const watch = watchAt10()
  t.false(watch.isLeaderLost(60_000)) // the chain stands still
  watch.onReceived(12, 10, 60_000)
  t.false(watch.isLeaderLost(60_999))
  t.true(watch.isLeaderLost(61_000))
  watch.onMarker(0, 12, 61_000)
  t.true(watch.isLeaderLost(61_000)) // a slot counts on all partitions
  watch.onMarker(1, 12, 61_100)
  t.is(watch.newest, 12)
  t.false(watch.isLeaderLost(120_000))
})

test('a leader that appends slots late is not lost while it appends', (t) => {
  const watch = watchAt10()
  for (const slot of [11, 12, 13]) watch.onReceived(slot, slot - 1, 0)
  for (const partition of [0, 1]) watch.onMarker(partition, 11, 900)
  t.false(watch.isLeaderLost(3599))
  t.true(watch.isLeaderLost(3600))
})

test('a leader that may be fetching what this process lacks too gets more time', (t) => {
  const watch = watchAt10()
  watch.onReceived(12, 11, 0)
  t.false(watch.isLeaderLost(9999))
  t.true(watch.isLeaderLost(10_000))
})

test('a leader that is slow gets three times as long as it needed for the last slots, but no more than one that may be fetching', (t) => {
  const slow = watchAt10(800)
  slow.onReceived(11, 10, 0)
  t.false(slow.isLeaderLost(2399))
  t.true(slow.isLeaderLost(2400))
  for (let slot = 11; slot <= 74; slot++) append(slow, slot, 10_000, 10)
  slow.onReceived(75, 74, 10_000)
  t.false(slow.isLeaderLost(10_999))
  t.true(slow.isLeaderLost(11_000)) // it is fast again
  const slowest = watchAt10(9000)
  slowest.onReceived(11, 10, 0)
  t.false(slowest.isLeaderLost(9999))
  t.true(slowest.isLeaderLost(10_000))
})

test('a leader that was not yet seen to append slots gets more time', (t) => {
  const watch = new LeaderWatch(2, LIMITS, 0)
  for (const slot of [7, 8, 9]) append(watch, slot, 0, 100)
  watch.onReceived(10, 9, 0)
  t.false(watch.isLeaderLost(3999))
  t.true(watch.isLeaderLost(4000))
})

test('an empty log has no leader, and what was received before the log had it does not count', (t) => {
  const empty = new LeaderWatch(2, LIMITS, 0)
  empty.onReceived(5, 4, 0)
  t.true(empty.isLeaderLost(1000))
  const watch = watchAt10()
  watch.onReceived(9, 8, 0)
  watch.onReceived(10, 9, 0)
  t.false(watch.isLeaderLost(60_000))
})

test('a process that was suspended waits anew', (t) => {
  const watch = watchAt10()
  watch.onReceived(11, 10, 0)
  watch.restart(60_000)
  t.false(watch.isLeaderLost(60_999))
  t.true(watch.isLeaderLost(61_000))
})
