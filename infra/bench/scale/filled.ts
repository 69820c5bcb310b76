import { createStore } from '../../../pipeline/store/create-store.ts'
import { analystDatabase, hasTable, migrate } from '../../../pipeline/store/migrate.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { isFilled } from './fill.ts'

/** Database of the filled tables. What is measured runs over copies of them. */
const FILLED = 'bench_scale'

/**
 * Opens the database of filled tables of a server, with the newest schema. Without a complete
 * filling it is empty: what an interrupted run has left is removed.
 */
export async function openFilled(
  clickhouseUrl: string,
): Promise<{ readonly store: Store; readonly isComplete: boolean }> {
  const open = () => createStore({ kind: 'clickhouse', url: new URL(`/${FILLED}`, clickhouseUrl) })
  let store = await open()
  const isComplete = (await hasTable(store, 'progress')) && (await isFilled(store))
  if (!isComplete) {
    for (const name of [analystDatabase(FILLED), FILLED])
      await store.command(`DROP DATABASE IF EXISTS ${name} SYNC`)
    await store.close()
    store = await open()
  }
  await migrate(store)
  return { store, isComplete }
}

/**
 * Gives the empty tables of a database the rows of the filled ones. Their parts are hard links, so
 * this takes seconds and no disk. Both must have the same schema.
 */
export async function copyFilled(store: Store, from = FILLED): Promise<void> {
  const tables = await store.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = {from:String} AND total_rows > 0
     AND engine LIKE '%MergeTree' AND name != 'schema_migrations'`,
    { from },
  )
  for (const { name } of tables)
    await store.command(`ALTER TABLE ${name} ATTACH PARTITION ALL FROM ${from}.${name}`)
}

/**
 * Removes the filled balances once ingest has seen that every wallet has one. No link is compared
 * with them, but a look at a link that came late would, and find breaks that are none.
 */
export async function forgetBalances(store: Store): Promise<void> {
  await store.command('TRUNCATE TABLE balance_snapshots')
}
