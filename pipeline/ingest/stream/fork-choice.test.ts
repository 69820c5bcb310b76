import test from 'ava'
import { lowestEndedSlot, missingSlot, nextSlot, type SlotLink } from './fork-choice.ts'

const link = (parent: number | null, confirmedAt: number | null, more: Partial<SlotLink> = {}) => ({
  meta: parent === null ? null : { parent },
  confirmedAt,
  fetched: false,
  parentAbsent: false,
  ...more,
})
const slots = (entries: Record<number, SlotLink>) =>
  new Map(Object.entries(entries).map(([slot, entry]) => [Number(slot), entry]))

test('the next slot is the lowest confirmed slot with a meta whose parent is the head', (t) => {
  const open = slots({ 14: link(10, 0), 13: link(10, 0), 12: link(10, null), 11: link(9, 0) })
  t.is(nextSlot(open, 10), 13)
  t.is(nextSlot(slots({ 12: link(null, 0), 13: link(12, 0) }), 10), null)
})

test('a fetched block follows although its parent lies before the head, or is absent', (t) => {
  t.is(nextSlot(slots({ 12: link(9, 0, { fetched: true }) }), 10), 12)
  t.is(nextSlot(slots({ 12: link(11, 0, { fetched: true }) }), 10), null)
  t.is(nextSlot(slots({ 12: link(11, 0, { fetched: true, parentAbsent: true }) }), 10), 12)
})

test('the unknown parent of the lowest confirmed slot is missing since that slot was confirmed', (t) => {
  const open = slots({ 15: link(14, 700), 14: link(12, 500), 13: link(12, null) })
  t.deepEqual(missingSlot(open, 10, false), { slot: 12, sinceMs: 500 })
})

test('a slot without meta is missing since a higher slot was confirmed, or at once', (t) => {
  const open = slots({ 11: link(null, 500) })
  t.is(missingSlot(open, 10, false), null)
  t.deepEqual(missingSlot(open, 10, true), { slot: 11, sinceMs: 500 })
  t.deepEqual(missingSlot(slots({ 12: link(null, 700), 11: link(null, 500) }), 10, false), {
    slot: 11,
    sinceMs: 700,
  })
})

test('without a confirmed slot above the head nothing is missing', (t) => {
  t.is(missingSlot(slots({ 9: link(null, 0), 12: link(11, null) }), 10, true), null)
})

test('a chain starts at the lowest slot that has a meta and is confirmed', (t) => {
  t.is(lowestEndedSlot(slots({ 7: link(6, null), 9: link(8, 0), 8: link(7, 0) })), 8)
  t.is(lowestEndedSlot(slots({ 7: link(6, null), 8: link(null, 0) })), null)
})
