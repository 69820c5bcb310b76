import { join } from 'node:path'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { startServers, stopServers } from './servers.ts'
import { readState, writeState } from './state.ts'

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
 * Starts two ClickHouse servers with data folders in `dir`, with the same users and passwords, and
 * the fault proxy before them. They use the ports from `portBase` to `portBase + 19`.
 */
export async function startReplicaPair(
  dir: string,
  portBase: number,
  database: string,
): Promise<ReplicaPair> {
  const [one, two] = [join(dir, 'one'), join(dir, 'two')]
  const close = async () => {
    for (const folder of [one, two]) await stopServers(folder, { only: 'clickhouse' })
  }
  try {
    const env = await startServers(one, { portBase, only: 'clickhouse' })
    const state = readState(one)
    if (state === null) throw new Error('a started server has a state')
    if (readState(two) === null)
      writeState(two, { ...state, portBase: portBase + 10, processes: {} })
    await startServers(two, { only: 'clickhouse' })
    const first = new URL(`/${database}`, env.CLICKHOUSE_URL)
    const second = withPort(first, Number(first.port) + 10)
    const proxy = await startFaultProxy([first.origin, second.origin])
    const [firstPort, secondPort] = proxy.replicas.map(({ port }) => port) as [number, number]
    return {
      proxy,
      urls: [withPort(first, firstPort), withPort(first, secondPort)],
      direct: [first, second],
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
