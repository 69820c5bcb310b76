import { createStore } from '../../../pipeline/store/create-store.ts'
import { analystDatabase, migrate } from '../../../pipeline/store/migrate.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { startServers, stopServers } from '../../servers/servers.ts'
import { inFolder } from './folder.ts'

/** Below the ports that the kernel gives to clients. */
const PORT_BASE = 26_000

/**
 * Runs `use` on a database of its own, with all tables, and drops it afterwards. The server is that
 * of `CLICKHOUSE_URL`; without one, a server is started here and stopped at the end.
 */
export async function withClickHouse(use: (store: Store) => Promise<void>): Promise<void> {
  const { CLICKHOUSE_URL } = process.env
  if (CLICKHOUSE_URL) return withDatabase(CLICKHOUSE_URL, use)
  await inFolder(async (folder) => {
    const env = await startServers(folder, { portBase: PORT_BASE, only: 'clickhouse' })
    await withDatabase(env.CLICKHOUSE_URL ?? '', use).finally(() => stopServers(folder))
  })
}

async function withDatabase(url: string, use: (store: Store) => Promise<void>): Promise<void> {
  const database = `bench_${process.pid}`
  const store = await createStore({ kind: 'clickhouse', url: new URL(`/${database}`, url) })
  await migrate(store)
  await use(store)
  for (const name of [analystDatabase(database), database])
    await store.command(`DROP DATABASE ${name}`)
  await store.close()
}
