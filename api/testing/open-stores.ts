import { migrate } from '../../pipeline/store/migrate.ts'
import {
  openTestChdb,
  openTestClickHouse,
  type TestStore,
} from '../../pipeline/testing/test-store.ts'

export type { TestStore }

/** Opens a new database on the server of CLICKHOUSE_URL, or an embedded ClickHouse without one. */
export function openStore(): Promise<TestStore> {
  const { CLICKHOUSE_URL } = process.env
  return CLICKHOUSE_URL ? openServerStore(CLICKHOUSE_URL) : openEmbeddedStore()
}

/** Opens an embedded ClickHouse in a new folder, with the schema. One process can open only one. */
export async function openEmbeddedStore(): Promise<TestStore> {
  return migrated(await openTestChdb())
}

/** Opens a new database on the server of CLICKHOUSE_URL, with the schema. */
export async function openServerStore(serverUrl: string): Promise<TestStore> {
  return migrated(await openTestClickHouse(serverUrl))
}

async function migrated(opened: TestStore): Promise<TestStore> {
  await migrate(opened.store)
  return opened
}
