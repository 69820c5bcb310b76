import test from 'ava'
import { planGap, recheckRange } from './catch-up.ts'

test('a gap ends a little above the oldest slot that the server replays, at most at the tip', (t) => {
  t.deepEqual(planGap(10, 5000, 21, 3000), { kind: 'fetch', slots: 10, from: 11, to: 53 })
  t.deepEqual(planGap(10, 40, 21, 3000), { kind: 'fetch', slots: 10, from: 11, to: 40 })
})

test('without replay the gap ends at the tip', (t) => {
  t.deepEqual(planGap(10, 40, null, 3000), { kind: 'fetch', slots: 29, from: 11, to: 40 })
})

test('a gap is fetched up to the limit and not beyond', (t) => {
  t.like(planGap(10, 9000, 3011, 3000), { kind: 'fetch', slots: 3000 })
  t.deepEqual(planGap(10, 9000, 3012, 3000), { kind: 'too_long', slots: 3001 })
})

test('a recheck covers the slots before the cut and those replayed', (t) => {
  t.deepEqual(recheckRange(100, 120, 64, 3000, null), { from: 37, to: 120 })
  t.deepEqual(recheckRange(100, 90, 64, 3000, null), { from: 37, to: 100 })
  t.deepEqual(recheckRange(10, 20, 64, 3000, null), { from: 0, to: 20 })
})

test('a recheck includes a pending one and is limited in length', (t) => {
  t.deepEqual(recheckRange(100, 120, 64, 3000, { from: 5, to: 110 }), { from: 5, to: 120 })
  t.deepEqual(recheckRange(100, 9000, 64, 3000, { from: 5, to: 110 }), { from: 5936, to: 9000 })
})
