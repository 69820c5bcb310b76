import { migrate } from '../../pipeline/store/migrate.ts'
import {
  openTestChdb,
  openTestClickHouse,
  type TestStore,
} from '../../pipeline/testing/test-store.ts'

export type { TestStore }

/** A database of its own on the server of CLICKHOUSE_URL; without one, an embedded ClickHouse. */
export function openStore(): Promise<TestStore> {
  const { CLICKHOUSE_URL } = process.env
  return CLICKHOUSE_URL ? openServerStore(CLICKHOUSE_URL) : openEmbeddedStore()
}

/** An embedded ClickHouse in a folder of its own, with the schema. A process can open one. */
export async function openEmbeddedStore(): Promise<TestStore> {
  return migrated(await openTestChdb())
}

/** A database of its own on the server of CLICKHOUSE_URL, with the schema. */
export async function openServerStore(serverUrl: string): Promise<TestStore> {
  return migrated(await openTestClickHouse(serverUrl))
}

async function migrated(opened: TestStore): Promise<TestStore> {
  await migrate(opened.store)
  return opened
}
