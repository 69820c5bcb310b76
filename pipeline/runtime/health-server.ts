import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ServiceError } from '../domain/service-error.ts'
import type { Registry } from './telemetry.ts'

/** One condition of readiness: resolves when it holds, rejects with a message fit for an operator when not. */
export type ReadyCheck = () => Promise<void>

/** The answer of `/readyz`: `ready`, and for each condition `ok` or why not. */
export interface Readiness {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, string>>
}

/** Asks every condition at once, each for at most `timeoutMs`. */
export async function readReadiness(
  checks: Readonly<Record<string, ReadyCheck>>,
  timeoutMs = 2000,
): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const timeout = AbortSignal.timeout(timeoutMs)
      const late = new Promise<string>((resolve) => {
        timeout.addEventListener('abort', () => resolve(`no answer in ${timeoutMs} ms`))
      })
      const asked = check().then(
        () => 'ok',
        (error: unknown) => (error instanceof ServiceError ? error.message : 'failed'),
      )
      return [name, await Promise.race([asked, late])] as const
    }),
  )
  return {
    ready: results.every(([, state]) => state === 'ok'),
    checks: Object.fromEntries(results),
  }
}

export interface HealthServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * Serves `/metrics` (Prometheus), `/healthz` (the process runs) and `/readyz` (200 or 503 with the reasons) of one process on its
 * METRICS_PORT (decisions D7, J4). Rejects with `bad_config` when the port is taken.
 */
export async function startHealthServer(options: {
  host: string
  port: number
  registry: Registry
  checks: Readonly<Record<string, ReadyCheck>>
}): Promise<HealthServer> {
  const { host, port, registry, checks } = options
  const server = createServer(async (request, response) => {
    const path = request.url?.split('?')[0]
    const send = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
    if (request.method !== 'GET') {
      response.setHeader('allow', 'GET')
      send(405, 'text/plain', 'method not allowed\n')
    } else if (path === '/metrics') {
      send(200, registry.contentType, await registry.metrics())
    } else if (path === '/healthz') {
      send(200, 'application/json', '{"status":"ok"}')
    } else if (path === '/readyz') {
      const readiness = await readReadiness(checks)
      send(readiness.ready ? 200 : 503, 'application/json', JSON.stringify(readiness))
    } else {
      send(404, 'text/plain', 'not found: try /metrics, /healthz, /readyz\n')
    }
  })
  server.requestTimeout = 5000
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
    port: (server.address() as AddressInfo).port, // listening on TCP
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
