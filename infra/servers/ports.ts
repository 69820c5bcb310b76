import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Server } from './server.ts'

/**
 * Rejects with `unavailable`, naming the port, if a port of one of the servers is taken, and stays
 * taken for two seconds: the kernel closes sockets of a killed server after its process is gone.
 */
export async function refuseTakenPorts(
  servers: readonly Server[],
  portBase: number,
): Promise<void> {
  if (servers.length > 0 && portBase >= firstClientPort())
    process.stderr.write(
      `ports from ${firstClientPort()} on may be given to any client's connection: a server that restarts may find its own taken\n`,
    )
  for (const server of servers) {
    for (const [purpose, port] of Object.entries(server.ports(portBase))) {
      let code = await errorOf(port)
      for (const end = performance.now() + FREED_WITHIN_MS; code === 'EADDRINUSE'; ) {
        if (performance.now() > end) break
        await delay(50)
        code = await errorOf(port)
      }
      if (code === null) continue
      const why = code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used: ${code}`
      throw new ServiceError(
        'unavailable',
        `port ${port} (${server.title} ${purpose}) ${why}; choose other ports with --port-base N`,
      )
    }
  }
}

const FREED_WITHIN_MS = 2000

/** Why a port cannot be listened on; null if it can. */
function errorOf(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const listener = createServer()
    listener.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'))
    listener.listen(port, '127.0.0.1', () => listener.close(() => resolve(null)))
  })
}

/** The first port that the kernel gives to outgoing connections. */
function firstClientPort(): number {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10)
  } catch {
    return 32_768
  }
}
