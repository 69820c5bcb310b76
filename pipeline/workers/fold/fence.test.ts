import test from 'ava'
import fc from 'fast-check'
import { fenceOf } from './fence.ts'

/** Owners of a partition, by group: each group starts at generation 1, and skips some. */
const groups = fc.array(fc.array(fc.nat({ max: 3 }), { minLength: 1 }), { maxLength: 5 })

test('each owner of a partition has a higher fencing token than those before, also after its group was deleted (rule K15)', (t) => {
  fc.assert(
    fc.property(groups, (owners) => {
      let stored: { fence: number; generation: number } | undefined
      let newest = 0
      for (const group of owners) {
        let generation = 0
        for (const skip of group) {
          generation += 1 + skip
          const fence = fenceOf(generation, stored)
          if (fence <= newest) return false
          newest = fence
          stored = { fence, generation }
        }
      }
      return true
    }),
  )
  t.pass()
})

test('a log in memory has one owner, which keeps the token', (t) => {
  t.is(fenceOf(0), 0)
  t.is(fenceOf(0, { fence: 9, generation: 4 }), 9)
})
