import { startServers, stopServers } from '../../servers/servers.ts'
import { emptyServers } from '../../whole-service/deployment.ts'
import { inFolder } from './folder.ts'

/** Below the ports that the kernel gives to clients. */
const PORT_BASE = 26_000

/** Single servers, or clusters of them (`infra/servers`). */
export type ServersKind = 'servers' | 'cluster'

/**
 * Calls `use` with empty servers: those of the environment if they are single ones and such are
 * wanted, or servers started here and stopped at the end.
 */
export async function withServers(
  use: (env: Readonly<Record<string, string>>) => Promise<void>,
  kind: ServersKind = 'servers',
): Promise<void> {
  const { KAFKA_BROKERS, CLICKHOUSE_URL, REDIS_URL } = process.env
  const given = KAFKA_BROKERS && CLICKHOUSE_URL && REDIS_URL && kind === 'servers'
  const options = { portBase: PORT_BASE, cluster: kind === 'cluster' }
  await inFolder(async (folder) => {
    try {
      const servers = given ? process.env : await startServers(folder, options)
      const { env, drop } = await emptyServers(servers)
      await use(env).finally(drop)
    } finally {
      await stopServers(folder)
    }
  })
}
