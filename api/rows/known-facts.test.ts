import test from 'ava'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { KnownFacts } from './known-facts.ts'

/** A store whose rows of `mints` a test sets. Each query waits for the test. */
function aStore() {
  const rows = new Map<string, string>()
  const queries: string[][] = []
  const waiting: (() => void)[] = []
  const faults: ServiceError[] = []
  const store = {
    async query(_sql: string, { mints }: { mints: string[] }) {
      queries.push(mints)
      const found = mints.flatMap((mint) => {
        const symbol = rows.get(mint)
        return symbol === undefined ? [] : [{ mint, supply: '7', symbol, name: `the ${symbol}` }]
      })
      await new Promise<void>((resolve) => waiting.push(resolve))
      const fault = faults.shift()
      if (fault !== undefined) throw fault
      return found
    },
  } as unknown as Store // only `query` is called
  return {
    store,
    rows,
    queries,
    faults,
    /** Lets the query that waits answer, and what follows from it happen. */
    async answer() {
      waiting.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

const changed = (mint: string) => [{ table: 'mints', row: { mint } }] as const

test('facts are read once for all that ask, and again after they have changed (rule K26)', async (t) => {
  const { store, rows, queries, answer } = aStore()
  const facts = new KnownFacts()
  rows.set('a', 'A')
  const reading = facts.of(store, ['a', 'b', 'a'])
  await answer()
  t.deepEqual(
    [...(await reading)],
    [
      ['a', { supply: 7n, symbol: 'A', name: 'the A' }],
      ['b', { supply: null, symbol: '', name: '' }],
    ],
  )
  t.is((await facts.of(store, ['b'])).get('b')?.symbol, '')
  t.deepEqual(queries, [['a', 'b']])
  rows.set('b', 'B')
  facts.apply(changed('b'))
  const again = facts.of(store, ['a', 'b'])
  await answer()
  t.is((await again).get('b')?.symbol, 'B')
  t.deepEqual(queries, [['a', 'b'], ['b']])
})

test('facts that changed while they were read are not kept', async (t) => {
  const { store, rows, queries, answer } = aStore()
  const facts = new KnownFacts()
  const reading = facts.of(store, ['a'])
  rows.set('a', 'A')
  facts.apply(changed('a'))
  await answer()
  t.is((await reading).get('a')?.symbol, '')
  const again = facts.of(store, ['a'])
  await answer()
  t.is((await again).get('a')?.symbol, 'A')
  t.is(queries.length, 2)
})

test('a symbol that is not in memory is null, and read for the next time; after a failure the next call asks again', async (t) => {
  const { store, rows, queries, faults, answer } = aStore()
  const facts = new KnownFacts()
  rows.set('a', 'A')
  faults.push(new ServiceError('unavailable', 'away'))
  t.is(facts.symbolOf(store, 'a'), null)
  await answer()
  t.is(facts.symbolOf(store, 'a'), null)
  t.is(facts.symbolOf(store, 'a'), null)
  t.is(facts.symbolOf(store, 'b'), null)
  await answer()
  await answer()
  t.is(facts.symbolOf(store, 'a'), 'A')
  t.is(facts.symbolOf(store, 'b'), null)
  t.deepEqual(queries, [['a'], ['a'], ['b']])
})
