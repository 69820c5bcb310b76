import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ServiceError } from '../domain/service-error.ts'
import type { Readiness } from './readiness.ts'
import type { Registry } from './telemetry.ts'

/** A running health server. */
export interface HealthServer {
  /** The port that the server listens on. */
  readonly port: number
  /** Stops listening and closes every connection. */
  close(): Promise<void>
}

/**
 * Serves `/metrics` (Prometheus), `/healthz` (the process runs) and `/readyz` (200, or 503 with the
 * reasons) of one process on its `METRICS_PORT` (rules D7, J4). Rejects with `bad_config` when the
 * port is taken.
 */
export async function startHealthServer(options: {
  host: string
  port: number
  registry: Registry
  readiness: Pick<Readiness, 'read'>
  /** How long requests share one rendering of the metrics, in milliseconds; default 250. */
  metricsSharedMs?: number
}): Promise<HealthServer> {
  const { host, port, registry, readiness, metricsSharedMs = METRICS_SHARED_MS } = options
  let report = { at: Number.NEGATIVE_INFINITY, text: Promise.resolve('') }
  // Rendering blocks the event loop for milliseconds, so it is cached.
  const metrics = () => {
    if (performance.now() - report.at > metricsSharedMs)
      report = { at: performance.now(), text: registry.metrics() }
    return report.text
  }
  const server = createServer(async (request, response) => {
    const path = request.url?.split('?')[0]
    const send = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
    if (request.method !== 'GET') {
      response.setHeader('allow', 'GET')
      send(405, 'text/plain', 'method not allowed\n')
    } else if (path === '/metrics') {
      send(200, registry.contentType, await metrics())
    } else if (path === '/healthz') {
      send(200, 'application/json', '{"status":"ok"}')
    } else if (path === '/readyz') {
      const report = await readiness.read()
      send(report.ready ? 200 : 503, 'application/json', JSON.stringify(report))
    } else {
      send(404, 'text/plain', 'not found: try /metrics, /healthz, /readyz\n')
    }
  })
  server.requestTimeout = 5000
  server.maxConnections = 100
  server.maxRequestsPerSocket = 100
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'is taken by another process' : 'cannot be opened'
      reject(
        new ServiceError('bad_config', `METRICS_PORT: port ${port} ${why}; set another, or 0`, {
          cause,
        }),
      )
    })
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port, // it listens on TCP
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const METRICS_SHARED_MS = 250
