import test from 'ava'
import { openTestChdb } from '../../testing/test-store.ts'
import { migrate } from '../migrate.ts'
import { insertSnapshots, readSnapshots } from './balance-snapshots.ts'

test('the first snapshot of each account is found among more accounts than one statement takes', async (t) => {
  const opened = await openTestChdb()
  t.teardown(() => opened.remove())
  await migrate(opened.store)
  const accounts = Array.from({ length: 6000 }, (_, n) => ({
    wallet: 1 + n,
    account: String(n).padStart(44, 'A'),
  }))
  const snapshotOf = (at: number, slot: number) => {
    const { wallet = 0, account = '' } = accounts[at] ?? {}
    return { wallet, account, mint: 'M', slot, amount: BigInt(at) }
  }
  const first = [snapshotOf(0, 5), snapshotOf(3000, 5), snapshotOf(5999, 5)]
  await insertSnapshots(opened.store, [...first, snapshotOf(3000, 9)])
  t.deepEqual(await readSnapshots(opened.store, accounts), first)
  t.deepEqual(await readSnapshots(opened.store, []), [])
})
