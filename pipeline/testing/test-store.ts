import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStore } from '../store/create-store.ts'
import type { Store } from '../store/store.ts'

/** A store for tests, empty; `remove` closes it and takes away its data. */
export interface TestStore {
  readonly store: Store
  remove(): Promise<void>
}

/** The embedded engine in a folder of its own. It is one a process: a test file opens it once. */
export async function openTestChdb(): Promise<TestStore> {
  const path = mkdtempSync(join(tmpdir(), 'test-store-'))
  const store = await createStore({ kind: 'chdb', path })
  return {
    store,
    async remove() {
      await store.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** A new database on the server of CLICKHOUSE_URL. */
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

/** Drops a database whose name says that it belongs to a test; refuses any other. */
export async function dropTestDatabase(store: Store, database: string): Promise<void> {
  if (!/^test_[0-9a-f]{12}$/.test(database))
    throw new Error(`${database} does not belong to a test and is not dropped`)
  await store.command(`DROP DATABASE IF EXISTS analyst_${database}`)
  await store.command(`DROP DATABASE IF EXISTS ${database}`)
}
