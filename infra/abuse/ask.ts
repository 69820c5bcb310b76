import { type Agent, request } from 'node:http'
import type { Endpoint } from './wire.ts'

/** A request to send. */
export interface RequestOptions {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A JSON text. */
  readonly body?: string
  /** Keeps connections open; without it, the connection is closed after the response. */
  readonly agent?: Agent
  /** The client address; null: any. */
  readonly localAddress?: string | null
}

/** The response to a request. */
export interface RequestOutcome {
  /** 0 when no response came within 20 s, or the connection broke. */
  readonly status: number
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: string
}

/** Sends a well-formed request; never rejects. */
export function sendRequest(target: Endpoint, options: RequestOptions): Promise<RequestOutcome> {
  const { path, method = 'GET', headers = {}, body = '', agent, localAddress = null } = options
  return new Promise((resolve) => {
    const lost = () => resolve({ status: 0, fields: {}, body: '' })
    const length = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(
      {
        host: target.host,
        port: target.port,
        path,
        method,
        agent: agent ?? false,
        ...(localAddress !== null && { localAddress }),
        headers: { ...(body !== '' && length), ...headers },
        signal: AbortSignal.timeout(20_000),
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', lost)
        response.on('end', () => {
          const { statusCode = 0, headers: fields } = response
          resolve({ status: statusCode, fields, body: Buffer.concat(chunks).toString() })
        })
      },
    )
    sent.on('error', lost)
    sent.end(body)
  })
}
