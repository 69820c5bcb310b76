import test from 'ava'
import { createWalletState } from '../../fold/wallet-state.ts'
import { migrate } from '../../store/migrate.ts'
import { findWalletsToRefold, readRevisions } from '../../store/tables/fold-snapshots.ts'
import { openTestStore } from '../../testing/test-store.ts'
import { readBooks, saveSnapshots } from './book-store.ts'

const FORMER = 7
const NEWEST = 8

test('a snapshot of a former format is read while it can be, and else the wallet is folded again', async (t) => {
  const { store, remove } = await openTestStore()
  t.teardown(remove)
  await migrate(store)
  const [former, newest] = [1, 2].map((wallet) => ({ ...createWalletState(wallet, 4), buys: 9 }))
  if (!former || !newest) return t.fail()
  const fenceOf = () => 0
  await saveSnapshots(store, [former], { format: FORMER, fenceOf })
  await saveSnapshots(store, [newest], { format: NEWEST, fenceOf })
  const found = async (readable: readonly number[]) => {
    const books = await readBooks(store, [1, 2], readable)
    const revisions = await readRevisions(store, [1, 2], readable)
    return {
      snapshots: [...books.values()].map(({ snapshot }) => snapshot),
      needRefold: [...books].flatMap(([wallet, { needsRefold }]) => (needsRefold ? [wallet] : [])),
      found: await findWalletsToRefold(store, readable),
      whole: [...revisions].flatMap(([wallet, { isWhole }]) => (isWhole ? [wallet] : [])),
    }
  }
  t.deepEqual(await found([FORMER, NEWEST]), {
    snapshots: [former, newest],
    needRefold: [],
    found: [],
    whole: [1, 2],
  })
  t.deepEqual(await found([NEWEST]), {
    snapshots: [null, newest],
    needRefold: [1],
    found: [1],
    whole: [2],
  })
})
