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

/** A database of its own on the server of CLICKHOUSE_URL; without one, an embedded ClickHouse. */
export function openStore(): Promise<TestStore> {
  const { CLICKHOUSE_URL } = process.env
  return CLICKHOUSE_URL ? openServerStore(CLICKHOUSE_URL) : openEmbeddedStore()
}

/** An embedded ClickHouse in a folder of its own, with the schema. A process can open one. */
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

/** A database of its own on the server of CLICKHOUSE_URL, with the schema. */
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
