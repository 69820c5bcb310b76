import test from 'ava'
import type { StoredPosition } from '../../store/tables/progress.ts'
import { aMarker } from '../../testing/a-marker.ts'
import { planStart } from './plan-start.ts'

const log = { id: 'a', low: 100n, end: 200n }
const stored = (nextOffset: bigint, logId = 'a'): StoredPosition => ({
  marker: aMarker(7),
  highest: 7,
  logId,
  nextOffset,
  logTime: 1,
  fence: 0,
  generation: 0,
})

test('reading continues behind the stored entries while the log has them (rule K10)', (t) => {
  for (const offset of [100n, 150n, 200n])
    t.deepEqual(planStart(stored(offset), log, false), { offset, isLost: false })
})

test('entries are lost when the next offset has expired, or lies beyond the end (rule K10)', (t) => {
  for (const offset of [99n, 201n])
    t.deepEqual(planStart(stored(offset), log, false), { offset: 100n, isLost: true })
})

test('entries are lost when some before the next offset were appended after those that are stored; they are read (rule K10)', (t) => {
  const grown = { ...log, later: 120n }
  for (const offset of [121n, 150n, 201n])
    t.deepEqual(planStart(stored(offset), grown, false), { offset: 120n, isLost: true })
  for (const offset of [100n, 120n])
    t.deepEqual(planStart(stored(offset), grown, false), { offset, isLost: false })
  t.deepEqual(planStart(stored(99n), grown, false), { offset: 100n, isLost: true })
})

test('another topic has lost the entries, another log in memory has not (rules K3, K10)', (t) => {
  t.deepEqual(planStart(stored(150n, 'b'), log, false), { offset: 100n, isLost: true })
  t.deepEqual(planStart(stored(150n, 'b'), log, true), { offset: 100n, isLost: false })
})

test('without a stored position everything is read; without a stored offset the group decides', (t) => {
  t.deepEqual(planStart(null, log, false), { offset: 100n, isLost: false })
  t.is(planStart(stored(0n, ''), log, false), null)
})

test('of brokers that tell no id only the offsets are compared', (t) => {
  const nameless = { ...log, id: '' }
  t.deepEqual(planStart(stored(150n), nameless, false), { offset: 150n, isLost: false })
  t.deepEqual(planStart(stored(99n), nameless, false), { offset: 100n, isLost: true })
})
