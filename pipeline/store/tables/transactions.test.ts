import test from 'ava'
import { openTestStore, type TestStore } from '../../testing/test-store.ts'
import { migrate } from '../migrate.ts'
import { keepTransactions } from './transactions.ts'

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened.remove())

const DAY = 86_400
const now = Math.floor(Date.now() / 1000)

/** Stores three transactions and a tombstone, and returns the slots that are left after a merge. */
async function leftOf(days: number | null): Promise<number[]> {
  const { store } = opened
  await store.command('TRUNCATE TABLE transactions')
  await keepTransactions(store, days)
  const rows = [
    { slot: 1, block_time: now - 200 * DAY, is_deleted: 0 },
    { slot: 2, block_time: now - 200 * DAY, is_deleted: 1 },
    { slot: 3, block_time: now - 80 * DAY, is_deleted: 0 },
    { slot: 4, block_time: now, is_deleted: 0 },
  ]
  await store.insert('transactions', rows)
  await store.command('OPTIMIZE TABLE transactions FINAL')
  const left = await store.query<{ slot: string }>('SELECT slot FROM transactions ORDER BY slot')
  return left.map(({ slot }) => Number(slot))
}

test.serial(
  'bytes are kept for so many days after the month of their block, tombstones for ever (rule K28)',
  async (t) => {
    t.deepEqual(await leftOf(null), [1, 2, 3, 4])
    t.deepEqual(await leftOf(90), [2, 3, 4])
    t.deepEqual(await leftOf(30), [2, 4])
    t.deepEqual(await leftOf(null), [1, 2, 3, 4])
  },
)

test.serial('a table that keeps bytes as long as it should is not changed', async (t) => {
  await keepTransactions(opened.store, 90)
  const command = async () => t.fail('the table was changed')
  await keepTransactions({ ...opened.store, command }, 90)
  await keepTransactions(opened.store, null)
  await keepTransactions({ ...opened.store, command }, null)
  t.pass()
})
