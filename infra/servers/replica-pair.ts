import { REPLICAS } from './clickhouse.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { startServers, stopServers } from './servers.ts'

/** Two ClickHouse servers behind the fault proxy. */
export interface ReplicaPair {
  readonly proxy: FaultProxy
  /** The replicas as clients see them, through the proxy. */
  readonly urls: readonly [URL, URL]
  /** The servers themselves. */
  readonly direct: readonly [URL, URL]
  close(): Promise<void>
}

/**
 * Starts both ClickHouse servers of a cluster with its data in `dir`, and the fault proxy before
 * them in this process.
 */
export async function startReplicaPair(
  dir: string,
  portBase: number,
  database: string,
): Promise<ReplicaPair> {
  const close = () => stopServers(dir, { only: 'clickhouse' })
  try {
    const options = { portBase, cluster: true } as const
    const env = await startServers(dir, { ...options, only: 'clickhouse-1' })
    await startServers(dir, { ...options, only: 'clickhouse-2' })
    const [first] = (env.CLICKHOUSE_URL ?? '').split(',')
    const url = new URL(`/${database}`, first)
    const direct = REPLICAS.map((offset) => withPort(url, portBase + offset)) as [URL, URL]
    const proxy = await startFaultProxy([direct[0].origin, direct[1].origin])
    return {
      proxy,
      urls: proxy.replicas.map(({ port }) => withPort(url, port)) as [URL, URL],
      direct,
      async close() {
        await proxy.close()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

function withPort(url: URL, port: number): URL {
  const other = new URL(url)
  other.port = String(port)
  return other
}
