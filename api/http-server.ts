import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import { type ConnectionLimits, trackConnections } from './connections.ts'
import { endStalled } from './end-stalled.ts'
import { ApiError } from './errors.ts'
import { rawRefusal, refusalParts } from './middleware/raw-refusal.ts'
import type { Upgrade } from './middleware/upgrade.ts'

/** The HTTP server. WebSocket upgrades are requested through it as well. */
export interface ApiServer {
  /** Returns the connection of a request that asks for an upgrade. */
  upgradeOf(request: IncomingMessage): Upgrade | undefined
  /** Resolves with the port; rejects with `bad_config` when the port cannot be opened. */
  listen(listener: RequestListener, host: string, port: number): Promise<number>
  /**
   * Accepts no more connections. Ends each open one with its response under way, waits at most
   * `graceMs` for that, then destroys what is left.
   */
  close(graceMs: number): Promise<void>
}

/** Timeouts of connections, in milliseconds, and limits of their number. */
export interface HttpServerOptions extends Partial<ConnectionLimits> {
  /** Time for the head of a request. */
  readonly headersTimeout?: number
  /** Time for a whole request. */
  readonly requestTimeout?: number
  /** Idle time between two requests. */
  readonly keepAliveTimeout?: number
  /** Time between two checks of the timeouts above. */
  readonly connectionsCheckingInterval?: number
  /** Time without progress while a client does not read its response. */
  readonly stallTimeoutMs?: number
  /**
   * Time after the response to a refused upgrade until its connection is closed, if the client does
   * not close it.
   */
  readonly lingerMs?: number
}

const DEFAULTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5000,
  stallTimeoutMs: 30_000,
  lingerMs: 2000,
  maxConnections: 0,
  maxConnectionsPerAddress: 0,
  onRefused: () => {},
}

/**
 * Creates an HTTP/1.1 server with timeouts for slow and idle clients. A request that asks for an
 * upgrade passes the same middleware as every other one, so it is refused in the same order with
 * the same responses (rules D2, F1). Paths without WebSocket ignore the upgrade (RFC 9110 7.8).
 */
export function createHttpServer(options: HttpServerOptions = {}): ApiServer {
  const { stallTimeoutMs, lingerMs, ...bounds } = { ...DEFAULTS, ...options }
  const upgrades = new WeakMap<IncomingMessage, Upgrade>()
  // A request without Host is refused below, as a problem document.
  const server = createServer({ ...bounds, maxHeaderSize: 16_384, requireHostHeader: false })
  // Node drops fields beyond its limit, a second Host among them; `maxHeaderSize` bounds the head.
  server.maxHeadersCount = 0
  const sockets = trackConnections(server, bounds)
  const { isAnswering, endConnections } = trackAnswers(server, lingerMs)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // An error response must not be written into another response.
    if (socket.writable && error.code !== 'ECONNRESET' && !isAnswering(socket))
      socket.end(rawRefusal(refusalOf(error.code)), () => socket.destroy())
    else socket.destroy()
  })
  const stopChecks = endStalled(sockets, isAnswering, stallTimeoutMs)
  return {
    upgradeOf: (request) => upgrades.get(request),
    async listen(listener, host, port) {
      const answer = withValidHead(listener)
      server.on('request', answer)
      // An unknown expectation is ignored, as RFC 9110 10.1.1 allows; Node would answer 417.
      server.on('checkExpectation', (request, response) =>
        server.emit('request', request, response),
      )
      server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
        upgrades.set(request, { request, socket, head })
        socket.on('error', destroy)
        const response = new ServerResponse(request)
        response.shouldKeepAlive = false // no further request is read from this connection
        try {
          response.assignSocket(socket)
        } catch {
          // The response to an earlier request is still being sent: nothing may be written into it.
          return void socket.destroy()
        }
        response.on('finish', () => {
          if (response.socket !== null) hangUp(socket, lingerMs) // not once the feed has it
        })
        answer(request, response)
      })
      await listenOn(server, host, port)
      return (server.address() as AddressInfo).port // a TCP address
    },
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      // Node would go on to serve the others, and the end of the grace period would cut a call off.
      endConnections(sockets)
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, graceMs)
      await closed
      clearTimeout(timer)
      stopChecks()
    },
  }
}

/** The responses of a server that are not finished. */
interface Answers {
  /** Whether a connection has one. */
  isAnswering(socket: Duplex): boolean
  /** From now on each response is the last one of its connection, but for those already begun. */
  endConnections(sockets: Iterable<Duplex>): void
}

/**
 * Tracks unfinished responses. Hangs up after a response whose request has an unread body, which
 * Node would otherwise read for as long as the client sends it.
 */
function trackAnswers(server: Server, lingerMs: number): Answers {
  // Weak, because a pipelined request whose connection ends before its turn emits no `close`.
  const unfinished = new WeakMap<Duplex, Set<ServerResponse>>()
  let isEnding = false
  server.on('request', (request, response) => {
    const { socket } = request
    if (isEnding) response.shouldKeepAlive = false
    const responses = unfinished.get(socket) ?? new Set()
    unfinished.set(socket, responses.add(response))
    response.on('close', () => {
      responses.delete(response)
      if (!request.complete && response.writableFinished)
        hangUp(socket, Math.min(lingerMs, MAX_DRAIN_MS))
    })
  })
  return {
    isAnswering: (socket) => (unfinished.get(socket)?.size ?? 0) > 0,
    endConnections(sockets) {
      isEnding = true
      for (const socket of sockets) {
        const last = [...(unfinished.get(socket) ?? [])].at(-1)
        if (last) last.shouldKeepAlive = false
      }
    },
  }
}

/** Refuses requests without a valid target or Host; `listener` answers the others. */
function withValidHead(listener: RequestListener): RequestListener {
  return (request, response) => {
    const target = originForm(request.url ?? '/')
    if (target === null) refuse(response, 'The target of the request is not a valid URL.')
    else if (!hasValidHost(request))
      refuse(response, 'A request must have exactly one valid Host header.')
    else {
      request.url = target
      listener(request, response)
    }
  }
}

/** Not a closure, which would keep the request as long as the socket is open. */
function destroy(this: Socket): void {
  this.destroy()
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why =
        cause.code === 'EADDRINUSE'
          ? `PORT: port ${port} is taken by another process; set another, or 0`
          : `HOST, PORT: cannot listen on ${host}:${port}`
      reject(new ServiceError('bad_config', why, { cause }))
    })
    server.listen(port, host, resolve)
  })
}

/** How long the rest of a body is read after its request was answered, in milliseconds. */
const MAX_DRAIN_MS = 500

/** Closes a connection without a parser, at the latest `lingerMs` after its response. */
function hangUp(socket: Socket, lingerMs: number): void {
  socket.end()
  socket.resume() // otherwise the end of the client's side is not seen
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

/** Whether a request has one valid Host field (RFC 9112 3.2); one of HTTP/1.0 may have none. */
function hasValidHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  const { host } = headers
  if (host === undefined) return httpVersion !== '1.1'
  let count = 0
  // `headers` has only the first Host field, so repeated ones are counted in `rawHeaders`.
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') count += 1
  return count === 1 && HOST.test(host)
}

/** `uri-host [":" port]` of RFC 9110 7.2; an IPv6 address is in brackets. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]+)(?::\d*)?$/

/**
 * Returns path and query of a request target, which may also be a whole URL (RFC 9112 3.2.2). Null
 * for other text, except `*`.
 */
function originForm(target: string): string | null {
  if (target.startsWith('/') || target === '*') return target
  if (!/^https?:/i.test(target) || !URL.canParse(target)) return null
  const { pathname, search } = new URL(target)
  return pathname + search
}

function refuse(response: ServerResponse, title: string): void {
  const { status, fields, body } = refusalParts(new ApiError('bad_request', { title }))
  response.writeHead(status, fields).end(body)
}

/** The refusal of a request that could not be parsed. */
function refusalOf(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') return new ApiError('headers_too_large')
  return new ApiError(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'bad_request')
}
