import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStore } from '../../pipeline/store/create-store.ts'
import { analystDatabase, migrate } from '../../pipeline/store/migrate.ts'
import type { Store } from '../../pipeline/store/store.ts'

export interface TestStore {
  readonly store: Store
  /** Closes it and deletes its data. */
  drop(): Promise<void>
}

/** Opens a new database on the server of CLICKHOUSE_URL, or an embedded ClickHouse without one. */
export function openStore(): Promise<TestStore> {
  const { CLICKHOUSE_URL } = process.env
  return CLICKHOUSE_URL ? openServerStore(CLICKHOUSE_URL) : openEmbeddedStore()
}

/** Opens an embedded ClickHouse in a new folder, with the schema. One process can open only one. */
export async function openEmbeddedStore(): Promise<TestStore> {
  const path = mkdtempSync(join(tmpdir(), 'store-'))
  const store = await createStore({ kind: 'chdb', path })
  await migrate(store)
  return {
    store,
    async drop() {
      await store.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** Opens a new database on the server of CLICKHOUSE_URL, with the schema. */
export async function openServerStore(serverUrl: string): Promise<TestStore> {
  const url = new URL(serverUrl)
  const database = `test_${randomUUID().replaceAll('-', '')}`
  url.pathname = `/${database}`
  const store = await createStore({ kind: 'clickhouse', url })
  await migrate(store)
  return {
    store,
    async drop() {
      await store.command(`DROP DATABASE IF EXISTS ${analystDatabase(database)}`)
      await store.command(`DROP DATABASE ${database}`)
      await store.close()
    },
  }
}
