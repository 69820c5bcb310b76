import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Swap } from '../../domain/event.ts'
import { migrate } from '../../store/migrate.ts'
import { SQL_FOLDER } from '../../store/schema-files.ts'
import type { Row, Store } from '../../store/store.ts'
import { insertDecodedRows, voidRows } from '../../store/tables/decoded-rows.ts'
import { clearPrices } from '../../store/tables/unpriced-swaps.ts'
import { aChain } from '../../testing/a-chain.ts'
import { openTestChdb, type TestStore } from '../../testing/test-store.ts'
import { makeEventIdKey } from './event-id-key.ts'
import { recordRow } from './event-rows.ts'
import { adoptSalt } from './privacy-salt.ts'

/* The statements of docs/loads.md over rows as the worker stores them (rule I3). */

const swaps = aChain({ seed: 7, slots: 80, wallets: 3, lateShare: 0 }).slots.flatMap((slot) =>
  slot.records.filter((record): record is Swap => record.kind === 'swap'),
)
const [onTime, late] = [swaps.slice(0, -20), swaps.slice(-20)]

const docs = readFileSync(join(SQL_FOLDER, '../docs/loads.md'), 'utf8')
const [create = '', plainLoad = '', read = '', model = ''] = [
  ...docs.matchAll(/^```sql\n(.*?)^```/gms),
].map(([, sql]) => sql)

/** The statement that dbt runs for the incremental model once its table exists. */
const modelLoad = `INSERT INTO swap_versions ${model
  .replace(/\{\{ config.*?\}\}|\{% .*? %\}/gs, '')
  .replace(/\{\{ source\('(\w+)', '(\w+)'\) \}\}/, '$1.$2')
  .replace('{{ this }}', 'swap_versions')}`

let opened: TestStore
let store: Store
test.before(async () => {
  opened = await openTestChdb()
  store = opened.store
  await migrate(store)
  await makeEventIdKey(store)
})
test.after.always(() => opened?.remove())

/** Runs both loads into copies of their own, and expects each to be what the view is. */
async function expectCopies(t: ExecutionContext, title: string): Promise<Row[]> {
  const view = await store.query<Row>(read.replace('swap_versions FINAL', 'analyst.swaps'))
  for (const [copy, load] of [
    ['plain_copy', plainLoad],
    ['dbt_copy', modelLoad],
  ] as const) {
    await store.command(create.replaceAll('swap_versions', copy))
    await store.command(load.replaceAll('swap_versions', copy))
    const rows = await store.query<Row>(read.replaceAll('swap_versions', copy))
    t.deepEqual(rows, view, `${title}: ${copy}`)
  }
  return view
}

const storeRows = (rows: readonly Row[]) => insertDecodedRows(store, 'swaps', rows)
const minutesAgo = (minutes: number) =>
  new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 19).replace('T', ' ')

for (const salt of [null, 'a salt'])
  test.serial(
    `${salt === null ? 'without' : 'with'} a salt the loaded copy is the view, over late, corrected and withdrawn rows`,
    async (t) => {
      for (const table of ['plain_copy', 'dbt_copy'])
        await store.command(`DROP TABLE IF EXISTS ${table}`)
      await store.command('TRUNCATE TABLE swaps')
      await adoptSalt(store, salt)
      const rows = onTime.map((swap) => recordRow(swap))
      await storeRows(rows.map((row) => ({ ...row, inserted_at: minutesAgo(300) })))
      t.is((await expectCopies(t, 'the first load')).length, onTime.length)

      const [seen, unseen] = [late.slice(0, 10), late.slice(10)]
      await storeRows(seen.map((swap) => ({ ...recordRow(swap), late: 'stream' })))
      t.is((await expectCopies(t, 'late')).length, onTime.length + 10)

      // Written before the newest loaded row, visible after the load.
      await storeRows(unseen.map((swap) => ({ ...recordRow(swap), inserted_at: minutesAgo(40) })))
      t.is((await expectCopies(t, 'visible late')).length, swaps.length)

      await clearPrices(store, onTime.slice(0, 15))
      const corrected = await expectCopies(t, 'corrected')
      await storeRows(rows) // a replay of the first versions
      t.deepEqual(await expectCopies(t, 'replayed'), corrected)

      const { slot, wallet } = onTime.at(-1) as Swap // there are swaps
      await voidRows(store, 'swaps', [slot], [wallet])
      const left = await expectCopies(t, 'withdrawn')
      t.true(left.length < swaps.length)

      await store.command('OPTIMIZE TABLE swaps FINAL')
      await store.command('DROP TABLE plain_copy')
      await store.command('DROP TABLE dbt_copy')
      t.deepEqual(await expectCopies(t, 'a new copy after merges'), left)
    },
  )

test.serial('with a salt the time of a change is a full hour', async (t) => {
  await adoptSalt(store, 'a salt')
  t.deepEqual(
    await store.query(
      'SELECT count() > 0 AS some, countIf(toUnixTimestamp64Milli(updated_at) % 3600000 != 0) AS exact FROM analyst.swap_changes',
    ),
    [{ some: 1, exact: '0' }],
  )
})
