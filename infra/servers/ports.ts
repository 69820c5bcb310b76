import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Server } from './server.ts'

/** Rejects with `unavailable`, naming the port, if a port of one of the servers is taken. */
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
      const code = await new Promise<string | null>((resolve) => {
        const listener = createServer()
        listener.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'))
        listener.listen(port, '127.0.0.1', () => listener.close(() => resolve(null)))
      })
      if (code === null) continue
      const why = code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used: ${code}`
      throw new ServiceError(
        'unavailable',
        `port ${port} (${server.title} ${purpose}) ${why}; choose other ports with --port-base N`,
      )
    }
  }
}

/** The first port that the kernel gives to outgoing connections. */
function firstClientPort(): number {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10)
  } catch {
    return 32_768
  }
}
