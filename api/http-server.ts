import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
  ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import { ApiError, problem } from './errors.ts'
import { HEADERS } from './middleware/headers.ts'
import type { Upgrade } from './middleware/upgrade.ts'

export interface HttpServer {
  /** The connection of a request that asks for an upgrade. */
  upgradeOf(request: IncomingMessage): Upgrade | undefined
  /** Resolves with the port; rejects with `bad_config` when it cannot be had. */
  listen(listener: RequestListener, host: string, port: number): Promise<number>
  /** Takes no more connections, waits for answers under way, at most `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** Milliseconds: for the head of a request, for all of it, between requests, and between looks at that. */
type Bounds = Required<
  Pick<
    ServerOptions,
    'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout' | 'connectionsCheckingInterval'
  >
>

const BOUNDS: Bounds = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5000,
}

/**
 * HTTP/1.1 with bounds for the slow and the silent. A request that asks for an upgrade goes the way of every other one, so that it is refused in the
 * same order with the same answers (decisions D2, F1); paths that speak HTTP alone answer it as usual, which RFC 9110 7.8 allows.
 */
export function createHttpServer(bounds: Bounds = BOUNDS): HttpServer {
  const upgrades = new WeakMap<IncomingMessage, Upgrade>()
  const server = createServer({ ...bounds, maxHeaderSize: 16_384 })
  const answering = new WeakSet<Duplex>()
  server.on('request', (request, response) => {
    answering.add(request.socket)
    response.on('close', () => answering.delete(request.socket))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Into the middle of an answer nothing else can be written.
    if (socket.writable && error.code !== 'ECONNRESET' && !answering.has(socket))
      socket.end(refusalOf(error.code), () => socket.destroy())
    else socket.destroy()
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

/** What is told of a request that could not be read; in the same form as every other refusal (decisions D1). */
function refusalOf(code: string | undefined): string {
  const refusal = new ApiError(
    code === 'HPE_HEADER_OVERFLOW'
      ? 'headers_too_large'
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'request_timeout'
        : 'bad_request',
  )
  const requestId = randomUUID()
  const body = JSON.stringify(problem(refusal, requestId))
  const fields = {
    ...HEADERS,
    'X-Request-Id': requestId,
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${head.join('')}\r\n${body}`
}
