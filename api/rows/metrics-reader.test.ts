import test from 'ava'
import type { Row, Store } from '../../pipeline/store/store.ts'
import type { PrepareMove, StoragePosition, StoredSlot } from '../storage-position.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { createMetricsReader } from './metrics-reader.ts'

/*
 * The cache of metrics across markers, over a real store.
 */

let opened: TestStore
let store: Store

test.before(async () => {
  opened = await openStore()
  store = opened.store
})
test.after.always(() => opened.remove())

const stored = (wallet: number, version: number, more: Row = {}): Row => ({
  wallet,
  version,
  buys: version,
  sells: 0,
  computed_at: 1000 + version,
  ...more,
})

test('rows that a marker does not change stay the same objects; newer versions and recomputed rows replace them', async (t) => {
  let position: StoredSlot = { slot: 10, blockTime: 0 }
  const preparations: PrepareMove[] = []
  const read = createMetricsReader(store, {
    stored: () => position,
    beforeMove: (prepare: PrepareMove) => preparations.push(prepare),
  } as Partial<StoragePosition> as StoragePosition) // it reads nothing else
  const moveTo = async (slot: number) => {
    const next = { slot, blockTime: slot }
    const taken = await Promise.all(preparations.map((prepare) => prepare(next)))
    position = next
    for (const take of taken) take()
  }
  await store.insert('wallet_metrics', [stored(1, 5), stored(2, 5), stored(3, 5)])
  const before = await read(1, 3)
  await store.insert('wallet_metrics', [
    stored(2, 6),
    stored(3, 5, { computed_at: 2000 }),
    stored(4, 1),
  ])
  await moveTo(11)
  const after = await read(1, 250)
  t.is(after.get(1), before.get(1))
  t.deepEqual(
    [...after.values()].map(({ wallet, buys, computed_at }) => [wallet, buys, computed_at]),
    [
      [1, '5', 1005],
      [2, '6', 1006],
      [3, '5', 2000],
      [4, '1', 1001],
    ],
  )
})
