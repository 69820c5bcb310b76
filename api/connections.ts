import type { Server, Socket } from 'node:net'
import { clientOf } from './rate-limits/client-of.ts'

/** Why a connection was refused: too many in total, or too many from its address. */
export type RefusedConnection = 'total' | 'address'

/** Maximum number of open connections of a server; 0: no limit. */
export interface ConnectionLimits {
  readonly maxConnections: number
  /** Connections of one IPv4 address, or of one IPv6 /64. */
  readonly maxConnectionsPerAddress: number
  readonly onRefused: (reason: RefusedConnection) => void
}

/**
 * Returns the open connections of a server, upgraded ones included, and destroys those beyond the
 * limits as soon as they are accepted.
 */
export function trackConnections(server: Server, limits: ConnectionLimits): ReadonlySet<Socket> {
  const { maxConnections, maxConnectionsPerAddress, onRefused } = limits
  const sockets = new Set<Socket>()
  const counts = new Map<string, number>()
  if (maxConnections > 0) server.maxConnections = maxConnections
  server.on('drop', () => onRefused('total'))
  server.on('connection', (socket) => {
    const address = clientOf(socket.remoteAddress, undefined, 0)
    const count = counts.get(address) ?? 0
    if (maxConnectionsPerAddress > 0 && count >= maxConnectionsPerAddress) {
      onRefused('address')
      socket.destroy()
      return
    }
    sockets.add(socket)
    counts.set(address, count + 1)
    socket.once('close', () => {
      sockets.delete(socket)
      const left = (counts.get(address) ?? 0) - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    })
  })
  return sockets
}
