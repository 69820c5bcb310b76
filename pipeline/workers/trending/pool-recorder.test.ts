import test from 'ava'
import type { Row, Store } from '../../store/store.ts'
import { PoolRecorder, type PoolSource } from './pool-recorder.ts'

type PoolState = NonNullable<ReturnType<PoolSource['newest']>>

const state = (mint: string, quoteReserve: bigint): PoolState => ({
  mint,
  pool: `pool of ${mint}`,
  slot: 7,
  quoteMint: 'SOL',
  quoteReserve,
  price: { quote: 1n, base: 2n },
})

/** A source of pool states that the test sets, and the rows that were stored: mint and reserve. */
function aSource() {
  const states = new Map<string, PoolState>()
  const stored: unknown[] = []
  const insert = async (_table: string, rows: readonly Row[]) => {
    for (const row of rows) stored.push([row.at, row.mint, row.pool, row.quote_reserve])
  }
  const source: PoolSource = { watch: () => {}, newest: (mint) => states.get(mint) }
  return { states, stored, source, store: { insert } as Store } // it only inserts
}

test('a pool state is stored when it has changed, and again when it becomes unknown', async (t) => {
  const { states, stored, source, store } = aSource()
  const recorder = new PoolRecorder(store, source, [])
  const watched = [{ mint: 'A' }, { mint: 'B' }]
  states.set('A', state('A', 5n))
  await recorder.record(10, watched)
  await recorder.record(20, watched)
  states.set('A', state('A', 6n))
  await recorder.record(30, watched)
  states.delete('A')
  await recorder.record(40, watched)
  await recorder.record(50, watched)
  t.deepEqual(stored, [
    [10, 'A', 'pool of A', 5n],
    [30, 'A', 'pool of A', 6n],
    [40, 'A', '', 0n],
  ])
})

test('a process without a source ends the states of the process before it', async (t) => {
  const { stored, store } = aSource()
  const { slot: _, ...before } = state('A', 5n)
  const recorder = new PoolRecorder(store, null, [{ ...before, at: 10 }])
  await recorder.record(20, [{ mint: 'A' }])
  t.deepEqual(stored, [[20, 'A', '', 0n]])
})
