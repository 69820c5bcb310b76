import test from 'ava'
import { nextSorting, sortRows } from './sorting.ts'

test('rows sort by a column in both directions, with unknown values last', (t) => {
  const rows = [{ a: 2 }, { a: null }, { a: 10 }, { a: 2, b: 1 }]
  t.deepEqual(
    [false, true].map((descending) => sortRows(rows, ({ a }) => a, descending)),
    [
      [{ a: 2 }, { a: 2, b: 1 }, { a: 10 }, { a: null }],
      [{ a: 10 }, { a: 2 }, { a: 2, b: 1 }, { a: null }],
    ],
  )
  const first = nextSorting({ column: '', descending: false }, 'a', true)
  t.deepEqual(
    [first, nextSorting(first, 'a', true), nextSorting(first, 'b', false)],
    [
      { column: 'a', descending: true },
      { column: 'a', descending: false },
      { column: 'b', descending: false },
    ],
  )
})
