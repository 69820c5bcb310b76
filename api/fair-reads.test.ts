import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import type { Store } from '../pipeline/store/store.ts'
import { FairReads } from './fair-reads.ts'

test('a read on behalf of several accounts runs when the first of them is next', async (t) => {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const store = {
    kind: 'chdb',
    query: (sql: string) =>
      new Promise<unknown[]>((resolve) => {
        begun.push(sql)
        ends.push(() => resolve([]))
      }),
  } as unknown as Store
  const reads = new FairReads(store, { perAccount: 1, timeoutMs: 10_000 })
  const busy = reads.storeOf('busy')
  const all = [
    busy.query('first of busy'),
    busy.query('second of busy'),
    busy.query('third of busy'),
    reads.storeOfAll([busy, reads.storeOf('quiet')]).query('of both'),
  ]
  for (let end = 0; end < all.length; end += 1) {
    while (ends[end] === undefined) await nextTurn()
    ends[end]?.()
  }
  await Promise.all(all)
  t.deepEqual(begun, ['first of busy', 'of both', 'second of busy', 'third of busy'])
})
