import test from 'ava'
import { PartitionTally } from './partition-tally.ts'

const tallyOf = (...indexes: readonly number[]) => {
  const tally = new PartitionTally()
  for (const index of indexes) tally.read(index)
  const { repeated, disordered } = tally
  return { repeated, disordered, lost: tally.lost(4) }
}

test('entries that come once, in order, are neither lost nor repeated', (t) => {
  t.deepEqual(tallyOf(0, 1, 2, 3), { repeated: 0, disordered: 0, lost: 0 })
})

test('an entry that a later one follows is lost, and so is the end that never comes', (t) => {
  t.deepEqual(tallyOf(0, 2), { repeated: 0, disordered: 0, lost: 2 })
})

test('an entry that comes after a later one is out of order, and not lost', (t) => {
  t.deepEqual(tallyOf(0, 2, 1, 3), { repeated: 0, disordered: 1, lost: 0 })
})

test('entries that are sent again are repeated, and not out of order', (t) => {
  t.deepEqual(tallyOf(0, 1, 0, 1, 2, 3), { repeated: 2, disordered: 0, lost: 0 })
})
