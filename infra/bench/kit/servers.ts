import { startServers, stopServers } from '../../servers/servers.ts'
import { emptyServers } from '../../whole-service/deployment.ts'
import { inFolder } from './folder.ts'

/** Below the ports that the kernel gives to clients. */
const PORT_BASE = 26_000

/**
 * Runs `work` against empty servers: those of the environment, or servers started here and stopped
 * at the end.
 */
export async function withServers(
  use: (env: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  const { KAFKA_BROKERS, CLICKHOUSE_URL, REDIS_URL } = process.env
  const given = KAFKA_BROKERS && CLICKHOUSE_URL && REDIS_URL
  await inFolder(async (folder) => {
    try {
      const servers = given ? process.env : await startServers(folder, { portBase: PORT_BASE })
      const { env, drop } = await emptyServers(servers)
      await use(env).finally(drop)
    } finally {
      await stopServers(folder)
    }
  })
}
