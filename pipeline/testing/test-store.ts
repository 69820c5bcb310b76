import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStore } from '../store/create-store.ts'
import type { Store } from '../store/store.ts'

/** An empty store for tests. `remove` closes it and deletes its data. */
export interface TestStore {
  readonly store: Store
  remove(): Promise<void>
}

/** Opens the server of CLICKHOUSE_URL if set, else the embedded engine. */
export function openTestStore(): Promise<TestStore> {
  const url = process.env.CLICKHOUSE_URL
  return url ? openTestClickHouse(url) : openTestChdb()
}

/**
 * Opens the embedded engine in a separate folder. A process can have only one, so a test file opens
 * it once.
 */
export async function openTestChdb(): Promise<TestStore & { readonly folder: string }> {
  const path = mkdtempSync(join(tmpdir(), 'test-store-'))
  const store = await createStore({ kind: 'chdb', path })
  return {
    store,
    folder: path,
    async remove() {
      await store.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** Opens a new database on the server of CLICKHOUSE_URL. */
export async function openTestClickHouse(clickhouseUrl: string): Promise<TestStore> {
  const url = new URL(clickhouseUrl)
  const database = `test_${randomBytes(6).toString('hex')}`
  url.pathname = `/${database}`
  const store = await createStore({ kind: 'clickhouse', url })
  return {
    store,
    async remove() {
      await dropTestDatabase(store, database)
      await store.close()
    },
  }
}

/** Deletes all rows of a test's database, also those that say which files of `sql/` it has. */
export async function emptyTables(store: Store): Promise<void> {
  const [database] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
  await store.command(`TRUNCATE ALL TABLES FROM ${testDatabase(database?.name ?? '')}`)
}

/** Drops a test database and its analyst views. */
export async function dropTestDatabase(store: Store, database: string): Promise<void> {
  const name = testDatabase(database)
  await store.command(`DROP DATABASE IF EXISTS analyst_${name}`)
  await store.command(`DROP DATABASE IF EXISTS ${name}`)
}

/**
 * Returns the name of a database in which a test may destroy data. Throws unless it is a test's
 * own, or the embedded one in its own folder.
 */
export function testDatabase(name: string): string {
  const isOwn = process.env.CLICKHOUSE_URL === undefined && name === 'tracked_wallets'
  if (!isOwn && !/^test_[0-9a-f]{12}$/.test(name))
    throw new Error(`${name} does not belong to a test: nothing is dropped`)
  return name
}
