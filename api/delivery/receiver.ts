import { isIP } from 'node:net'
import { Agent } from 'undici'
import type { Failure, HookAttempt } from '../webhooks/deliveries.ts'
import { AddressRefused, allowedLookup, isAllowedAddress } from '../webhooks/public-address.ts'

/** The outcome of one attempt. */
export interface Outcome extends Pick<HookAttempt, 'failure' | 'status' | 'latencyMs'> {
  /** Seconds that the receiver asks to wait (`Retry-After`); null: it does not say. */
  readonly retryAfterSeconds: number | null
}

/** Posts deliveries to receivers that strangers chose. */
export interface Receivers {
  /** Never rejects. Gives up when the signal is aborted. */
  post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal?: AbortSignal,
  ): Promise<Outcome>
  close(): Promise<void>
}

/**
 * Creates the client. It connects to public addresses only, follows no redirect, waits 10 s for the
 * whole answer and reads 64 KiB of it. `loopback` allows `http` and loopback.
 */
export function createReceivers({
  loopback,
  timeoutMs = 10_000,
}: {
  readonly loopback: boolean
  readonly timeoutMs?: number
}): Receivers {
  const agent = new Agent({
    connect: { lookup: allowedLookup(loopback), timeout: timeoutMs },
    maxOrigins: MOST_ORIGINS,
    keepAliveTimeout: 30_000,
  })
  return {
    async post(url, headers, body, signal) {
      const startedAt = performance.now()
      const after = () => Math.round(performance.now() - startedAt)
      const failed = (failure: Failure): Outcome => ({
        failure,
        status: 0,
        retryAfterSeconds: null,
        latencyMs: after(),
      })
      const { origin, pathname, search, hostname } = new URL(url)
      // No name is looked up for an address.
      const host = hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) !== 0 && !isAllowedAddress(host, loopback))
        return failed('address_not_allowed')
      // `AbortSignal.any` of a signal that lives on keeps memory on Node 20.
      const ending = new AbortController()
      const end = () => ending.abort()
      const timer = setTimeout(end, timeoutMs)
      signal?.addEventListener('abort', end)
      if (signal?.aborted) end()
      try {
        const {
          statusCode,
          headers: answered,
          body: rest,
        } = await agent.request({
          origin,
          path: pathname + search,
          method: 'POST',
          headers,
          body,
          signal: ending.signal,
        })
        const failure = failureOf(statusCode)
        const attempt = {
          failure,
          status: statusCode,
          retryAfterSeconds: secondsOf(answered['retry-after']),
          latencyMs: after(),
        }
        // What it says does not matter. Its connection is used again if it ends in time.
        await rest.dump({ limit: MOST_BYTES }).catch(() => {})
        return attempt
      } catch (error) {
        return failed(failureOfError(error))
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
      }
    },
    close: () => agent.destroy(),
  }
}

function failureOf(status: number): Failure | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : 'status'
}

function failureOfError(error: unknown): Failure {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = String('code' in cause ? cause.code : '')
    if (cause instanceof AddressRefused) return 'address_not_allowed'
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'unknown_host'
    if (/CERT|SSL|TLS/.test(code)) return 'bad_certificate'
    if (/^E(CONN|HOST|NET)|^UND_ERR_CONNECT/.test(code)) return 'no_connection'
  }
  return 'no_answer'
}

function secondsOf(header: string | readonly string[] | undefined): number | null {
  const text = typeof header === 'string' ? header : ''
  return /^[0-9]{1,6}$/.test(text) ? Number(text) : null
}

const MOST_BYTES = 64 * 1024
/** Receivers to which connections are kept. */
const MOST_ORIGINS = 10_000
