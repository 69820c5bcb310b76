import { createServer, type IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import type { Upgrade } from './middleware/upgrade.ts'

export interface HttpServer {
  /** The connection of a request that asks for an upgrade. */
  upgradeOf(request: IncomingMessage): Upgrade | undefined
  /** Resolves with the port; rejects with `bad_config` when it cannot be had. */
  listen(listener: RequestListener, host: string, port: number): Promise<number>
  /** Takes no more connections, waits for answers under way, at most `graceMs`. */
  close(graceMs: number): Promise<void>
}

/**
 * HTTP/1.1 with bounds for the slow and the silent. A request that asks for an upgrade goes the way of every other one, so that it is refused in the
 * same order with the same answers (decisions D2, F1); paths that speak HTTP alone answer it as usual, which RFC 9110 7.8 allows.
 */
export function createHttpServer(): HttpServer {
  const upgrades = new WeakMap<IncomingMessage, Upgrade>()
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    maxHeaderSize: 16_384,
    connectionsCheckingInterval: 5000,
  })
  return {
    upgradeOf: (request) => upgrades.get(request),
    async listen(listener, host, port) {
      server.on('request', listener)
      server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
        upgrades.set(request, { request, socket, head })
        socket.on('error', () => socket.destroy())
        const response = new ServerResponse(request)
        response.shouldKeepAlive = false // nobody reads a next request from this connection
        response.assignSocket(socket)
        response.on('finish', () => socket.end())
        listener(request, response)
      })
      await new Promise<void>((resolve, reject) => {
        server.once('error', (cause: NodeJS.ErrnoException) => {
          const why =
            cause.code === 'EADDRINUSE'
              ? `PORT: port ${port} is taken by another process; set another, or 0`
              : `HOST, PORT: cannot listen on ${host}:${port}`
          reject(new ServiceError('bad_config', why, { cause }))
        })
        server.listen(port, host, resolve)
      })
      return (server.address() as AddressInfo).port // listening on TCP
    },
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(timer)
    },
  }
}
