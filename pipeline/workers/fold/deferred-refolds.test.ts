import test from 'ava'
import { DeferredRefolds } from './deferred-refolds.ts'

test('a deferred refold is due after 2 s and 0.4 ms for each record, until it is deleted', (t) => {
  const refolds = new DeferredRefolds()
  refolds.defer(7, 3, 0, 1000)
  refolds.defer(8, 1, 10_000, 1000)
  t.true(refolds.has(7))
  t.deepEqual(refolds.due(2999), [])
  t.deepEqual(refolds.due(3000), [[7, 3]])
  t.deepEqual(refolds.due(7000), [
    [7, 3],
    [8, 1],
  ])
  refolds.delete(7)
  t.false(refolds.has(7))
  t.deepEqual(refolds.due(7000), [[8, 1]])
  refolds.clear()
  t.deepEqual(refolds.due(7000), [])
})
