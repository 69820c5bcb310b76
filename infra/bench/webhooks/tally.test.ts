import test from 'ava'
import { hooksOf, tally } from './tally.ts'

const SCHEDULE = { firstSlot: 7, slots: 3, slotMs: 400, perSlot: 2, hooks: 3 }
const NOBODY: ReadonlySet<number> = new Set()

test('the trades of slots go round the webhooks', (t) => {
  const hooks = [7, 8, 9].map((slot) => hooksOf(slot, SCHEDULE))
  t.deepEqual(hooks, [
    [0, 1],
    [2, 0],
    [1, 2],
  ])
})

test('a tally counts the trades of a webhook that are missing, come again, or come late', (t) => {
  const arrivals = [
    [0, 8, 1],
    [0, 7, 2],
    [1, 7, 3],
    [1, 7, 4],
    [1, 9, 5],
    [2, 9, 6],
  ] as const
  t.deepEqual(tally(SCHEDULE, NOBODY, arrivals), {
    expected: 6,
    missing: 1,
    repeated: 1,
    disordered: 1,
  })
})

test('a tally leaves out webhooks whose receivers never answer', (t) => {
  const arrivals = [
    [0, 7, 1],
    [0, 8, 2],
  ] as const
  t.deepEqual(tally(SCHEDULE, new Set([1, 2]), arrivals), {
    expected: 2,
    missing: 0,
    repeated: 0,
    disordered: 0,
  })
})
