import test from 'ava'
import { LeaderWatch } from './leader-watch.ts'

const LIMITS = { leaderLostMs: 1000, leaderStuckMs: 10_000 }

/** A watch of two partitions that have the marker of slot 10. */
function watchAt10(): LeaderWatch {
  const watch = new LeaderWatch(2, LIMITS, 0)
  for (const partition of [0, 1]) watch.onMarker(partition, 10, 0)
  return watch
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
  t.false(watch.isLeaderLost(1899))
  t.true(watch.isLeaderLost(1900))
})

test('a leader that may be fetching what this process lacks too gets more time', (t) => {
  const watch = watchAt10()
  watch.onReceived(12, 11, 0)
  t.false(watch.isLeaderLost(9999))
  t.true(watch.isLeaderLost(10_000))
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
