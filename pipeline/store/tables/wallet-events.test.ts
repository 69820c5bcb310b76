import test from 'ava'
import { openTestStore } from '../../testing/test-store.ts'
import { migrate } from '../migrate.ts'
import { countEventsUpTo } from './wallet-events.ts'

test('events of a wallet are counted up to its place and at it, each once, without tombstones', async (t) => {
  const { store, remove } = await openTestStore()
  t.teardown(remove)
  await migrate(store)
  const row = (wallet: number, slot: number, tx_index: number, change = {}) => ({
    wallet,
    slot,
    tx_index,
    event_index: 0,
    version: 0,
    is_deleted: 0,
    ...change,
  })
  // One at a time, so that nothing is merged on the way in.
  await store.insert('swaps', [row(1, 5, 1), row(1, 5, 3), row(2, 5, 2), row(1, 9, 0)])
  await store.insert('swaps', [row(1, 5, 1, { version: 1 }), row(2, 6, 0)])
  await store.insert('swaps', [row(1, 5, 3, { version: 1, is_deleted: 1 })])
  await store.insert('transfers', [row(1, 5, 4), row(3, 1, 0)])
  await store.insert('sol_transfers', [row(1, 5, 4, { event_index: 1 }), row(2, 4, 7)])
  const upTo = (slot: number, txIndex: number, eventIndex = 0) => ({ slot, txIndex, eventIndex })
  const counts = (...places: [number, ReturnType<typeof upTo>][]) =>
    countEventsUpTo(store, new Map(places))
  t.deepEqual(
    await counts([1, upTo(5, 4)], [2, upTo(5, 2)], [3, upTo(0, 9)]),
    new Map([
      [1, 2],
      [2, 2],
    ]),
  )
  t.deepEqual(await counts([1, upTo(9, 0)]), new Map([[1, 4]]))
})
