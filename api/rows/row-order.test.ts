import test from 'ava'
import fc from 'fast-check'
import { RowOrder } from './row-order.ts'
import { sortByKeys } from './sort-by-keys.ts'

const descending = (a: number, b: number) => b - a

test('rows stay sorted while thousands are added and removed in any order', (t) => {
  const aStep = fc.record({ isAdded: fc.boolean(), row: fc.nat({ max: 50_000 }) })
  const steps = fc.array(aStep, { size: 'max', maxLength: 20_000 })
  fc.assert(
    fc.property(fc.nat({ max: 40_000 }), steps, (filled, some) => {
      const order = new RowOrder(descending)
      const all = new Set(Array.from({ length: filled }, (_, at) => filled - 1 - at))
      order.fill(Uint32Array.from(all))
      for (const row of [...all].filter((row) => row % 9 !== 0)) {
        order.remove(row)
        all.delete(row)
      }
      for (const { isAdded, row } of some) {
        if (isAdded === all.has(row)) continue
        if (isAdded) order.add(row)
        else order.remove(row)
        all[isAdded ? 'add' : 'delete'](row)
      }
      const sorted = [...all].sort(descending)
      t.is(order.size, sorted.length)
      t.deepEqual([...order.slice(0, order.size)], sorted)
      const odd = (row: number) => row % 2 === 1
      t.deepEqual(order.filter(odd, 0, sorted.length), sorted.filter(odd))
      t.deepEqual(order.filter(odd, 4999, 30), sorted.filter(odd).slice(4999, 5029))
      for (const [from, to] of [
        [0, 3],
        [5000, 9000],
        [Math.max(0, sorted.length - 2), sorted.length + 9],
      ] as const)
        t.deepEqual([...order.slice(from, to)], sorted.slice(from, to))
      t.is(
        order.countBefore((row) => row < 7000),
        sorted.filter((row) => row >= 7000).length,
      )
      t.deepEqual([...order.range((row) => 7002 - row)], all.has(7002) ? [7002] : [])
    }),
    { numRuns: 8 },
  )
})

test('more rows than fit into a step are sorted by the last key, then those before, then compared', async (t) => {
  const rows = Uint32Array.from({ length: 120_000 }, (_, row) => row)
  const low = (row: number) => (row * 7919) % 100_003
  const high = (row: number) => ~(row % 3)
  const expected = Array.from(rows).sort(
    (a, b) => (b % 3) - (a % 3) || low(a) - low(b) || descending(a, b),
  )
  const sorted = rows.slice()
  await sortByKeys(sorted, [low, high], descending)
  t.deepEqual([...sorted], expected)
})
