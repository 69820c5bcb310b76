import { setMaxListeners } from 'node:events'
import pLimit from 'p-limit'
import { ServiceError } from '../../domain/service-error.ts'
import { parseJson } from '../../runtime/parse-json.ts'
import { pause } from '../../runtime/pause.ts'
import type { IngestMetrics } from '../telemetry.ts'
import { createHttpPost } from './http-post.ts'

/** A JSON-RPC 2.0 client of one server, with bounded concurrency and retries. */
export interface JsonRpcClient {
  /**
   * Calls a method and returns the `result` of the response. Retries transient failures. Rejects
   * with `RpcErrorResponse` on an error response, and with a retriable `unavailable` when all
   * attempts failed or the client is closed. Errors name the method, never the URL, which may
   * contain a key.
   */
  call(method: string, params: readonly unknown[]): Promise<unknown>
  /** Sends one request, without retries and outside the concurrency limit. Never rejects. */
  callOnce(method: string, params: readonly unknown[], timeoutMs: number): Promise<RpcOutcome>
  /** Aborts all calls and refuses new ones. */
  close(): void
}

/** Options of a JSON-RPC client. */
export interface RpcOptions {
  readonly url: string
  readonly metrics: Pick<IngestMetrics, 'rpcRequests'>
  /** Maximum number of requests at once; default 8. */
  readonly concurrency?: number
  /** Timeout of one request; default 30 s. */
  readonly timeoutMs?: number
  /** Maximum number of requests of one call; default 8. */
  readonly attempts?: number
  /** First pause between attempts; it doubles, up to 5 s. Default 200 ms. */
  readonly backoffMs?: number
  /** Largest response that is read, in bytes; default 256 MiB. */
  readonly maxResponseBytes?: number
  /** Called with the body of every request. */
  readonly onRequest?: (body: string) => void
}

/**
 * The outcome of one request. `error` is a JSON-RPC error that a retry does not solve. `failed` is
 * a transient failure; `retryAfterMs` is the pause that the server asked for, if any.
 */
export type RpcOutcome =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | RpcFailure

/** A request that may succeed when it is repeated. */
export interface RpcFailure {
  readonly kind: 'failed'
  readonly message: string
  readonly retryAfterMs: number | null
}

/** The server responded with a JSON-RPC error that a retry does not solve. */
export class RpcErrorResponse extends ServiceError {
  /** The code of the JSON-RPC error. */
  readonly rpcCode: number
  constructor(method: string, rpcCode: number, message: string) {
    super('unavailable', `SOLANA_RPC_URL: ${method} answered error ${rpcCode}: ${message}`, {
      retriable: false,
      context: { method, rpcCode },
    })
    this.rpcCode = rpcCode
  }
}

/** A client of the server at `options.url`. Connections open on first use. */
export function createJsonRpc(options: RpcOptions): JsonRpcClient {
  const { url, metrics, concurrency = 8, timeoutMs = 30_000, attempts = 8 } = options
  const { backoffMs = 200, maxResponseBytes = 256 * 1024 * 1024, onRequest } = options
  const closed = new AbortController()
  setMaxListeners(0, closed.signal) // each paused call adds one
  const limit = pLimit(concurrency)
  const http = createHttpPost(url, maxResponseBytes)

  async function call(method: string, params: readonly unknown[]): Promise<unknown> {
    let failure: RpcFailure | null = null
    for (let attempt = 0; attempt < attempts; attempt++) {
      const retryAfterMs = failure?.retryAfterMs ?? null
      if (failure !== null && retryAfterMs === null)
        await pause(Math.min(backoffMs * 2 ** (attempt - 1), MAX_BACKOFF_MS), closed.signal)
      if (closed.signal.aborted) break
      const outcome = await limit(async () => {
        // The pause occupies one of the concurrent requests, so that a server that throttles
        // receives fewer of them.
        if (retryAfterMs !== null) await pause(retryAfterMs, closed.signal)
        return callOnce(method, params, timeoutMs)
      })
      metrics.rpcRequests.inc({ method, outcome: outcome.kind })
      if (outcome.kind === 'result') return outcome.result
      if (outcome.kind === 'error')
        throw new RpcErrorResponse(method, outcome.code, outcome.message)
      failure = outcome
    }
    throw noAnswer(method, closed.signal.aborted ? 'closed' : (failure?.message ?? 'no answer'))
  }

  async function callOnce(
    method: string,
    params: readonly unknown[],
    withinMs: number,
  ): Promise<RpcOutcome> {
    const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    onRequest?.(request)
    try {
      const { status, retryAfter, body } = await http.post(request, withinMs)
      if (status === 429 || status >= 500) {
        const retryAfterMs = readRetryAfter(retryAfter, Date.now())
        return { kind: 'failed', message: `HTTP status ${status}`, retryAfterMs }
      }
      return readResponse(body, status)
    } catch (error) {
      return { kind: 'failed', message: messageOf(error), retryAfterMs: null }
    }
  }

  return {
    call,
    callOnce,
    close() {
      closed.abort()
      http.close()
    },
  }
}

function noAnswer(method: string, reason: string): ServiceError {
  const options = { context: { method } }
  return new ServiceError('unavailable', `SOLANA_RPC_URL: ${method} failed: ${reason}`, options)
}

const MAX_BACKOFF_MS = 5000
const MAX_RETRY_AFTER_MS = 30_000

/**
 * JSON-RPC error codes of transient failures: node unhealthy or behind, internal error, minimum
 * context slot not reached (agave rpc-client-types/src/custom_error.rs), too many requests.
 */
const TRANSIENT_CODES = new Set([-32005, -32603, -32016, 429])

function readResponse(body: string, status: number): RpcOutcome {
  const response = parseJson(body)
  if (response === undefined)
    return { kind: 'failed', message: `no JSON, HTTP status ${status}`, retryAfterMs: null }
  if (isRecord(response) && isRecord(response.error)) {
    const code = Number(response.error.code)
    const message = String(response.error.message).slice(0, 200)
    return TRANSIENT_CODES.has(code)
      ? { kind: 'failed', message, retryAfterMs: null }
      : { kind: 'error', code, message }
  }
  if (isRecord(response) && 'result' in response) {
    return { kind: 'result', result: response.result }
  }
  return { kind: 'failed', message: `no result, HTTP status ${status}`, retryAfterMs: null }
}

/** The error of a host name with several unreachable addresses has a code and an empty message. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}

/** `Retry-After`: seconds or an HTTP date (RFC 9110, section 10.2.3); 30 s at most. */
function readRetryAfter(field: string | undefined, nowMs: number): number | null {
  if (field === undefined) return null
  const ms = /^[0-9]+$/.test(field.trim()) ? Number(field) * 1000 : Date.parse(field) - nowMs
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS) : null
}

/** Whether a JSON value is an object or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
