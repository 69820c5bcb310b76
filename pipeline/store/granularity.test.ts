import test from 'ava'
import { openTestStore, type TestStore } from '../testing/test-store.ts'
import { GRANULARITY } from './granularity.ts'
import { migrate } from './migrate.ts'

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened?.remove())

test('a new installation reads few rows for each key of tables that are read by key', async (t) => {
  const rows = await opened.store.query<{ name: string; granularity: string }>(
    `SELECT name, extract(engine_full, 'index_granularity = ([0-9]+)') AS granularity
     FROM system.tables WHERE database = currentDatabase() AND name IN {names:Array(String)}`,
    { names: Object.keys(GRANULARITY) },
  )
  t.deepEqual(
    Object.fromEntries(rows.map(({ name, granularity }) => [name, Number(granularity)])),
    { ...GRANULARITY },
  )
})
