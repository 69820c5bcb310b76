import { type Dispatcher, Pool } from 'undici'
import { percentile } from '../kit/figures.ts'
import type { LoadOptions } from './load.ts'

/** Settings of paced requests. */
export interface ArrivalOptions extends LoadOptions {
  readonly perSecond: number
  /** For so many seconds before, requests are sent at the same rate and not counted; default 0. */
  readonly warmUpSeconds?: number
  /**
   * The requests belong to so many customers in turn. A customer who gets 503 sends nothing for the
   * time in `Retry-After`. Default 0: nobody waits.
   */
  readonly heedingCustomers?: number
}

/** Latencies and failures of paced requests. */
export interface Arrivals {
  /**
   * Milliseconds from when a request was due to the end of its response with status 200, which
   * includes waiting for a connection.
   */
  readonly p50: number
  readonly p99: number
  /** All latencies, ascending. */
  readonly times: readonly number[]
  /** Responses with status 200, and with 503. */
  readonly answered: number
  readonly refused: number
  /** Bytes of the bodies of the answers with status 200, as they were sent. */
  readonly bytes: number
  /** Requests that were not sent because of `Retry-After`. */
  readonly heldBack: number
  /** Other responses, lost connections, and requests without a response after `DRAIN_MS`. */
  readonly failed: number
}

/** How long the last responses are waited for. */
const DRAIN_MS = 5000

/**
 * Sends requests for the paths in turn at a constant rate, independent of response times, on at
 * most `connections` connections. autocannon does not: each of its connections uses up the share of
 * a second as fast as it can, then rests, and it counts each wait of n milliseconds as n waits.
 * undici takes a third of the CPU of `node:http`, which matters as the service shares the cores.
 */
export async function arrivals(
  options: ArrivalOptions,
  on: { counting?(): void; allSent?(): void } = {},
): Promise<Arrivals> {
  const { url, key, paths, seconds, connections, perSecond } = options
  const { warmUpSeconds = 0, heedingCustomers = 0 } = options
  const pool = new Pool(url, { connections })
  const headers = { authorization: `Bearer ${key}` }
  const times: number[] = []
  let refused = 0
  let bytes = 0
  let heldBack = 0
  let failed = 0
  /** Until when each customer waits. */
  const quietUntil = new Float64Array(heedingCustomers)
  const firstCounted = Math.round(perSecond * warmUpSeconds)
  const end = firstCounted + Math.round(perSecond * seconds)
  const ask = (index: number, due: number) =>
    new Promise<void>((resolve) => {
      const isCounted = index >= firstCounted
      const customer = index % heedingCustomers // NaN without customers: typed arrays ignore it
      if ((quietUntil[customer] ?? 0) > due) {
        if (isCounted) heldBack++
        return resolve()
      }
      let status = 0
      let size = 0
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart() {},
        onResponseStart(_controller, statusCode, fields) {
          status = statusCode
          if (status === 503)
            quietUntil[customer] = performance.now() + 1000 * Number(fields['retry-after'])
        },
        onResponseData(_controller, chunk) {
          size += chunk.length
        },
        onResponseEnd() {
          if (isCounted) {
            if (status === 200) {
              times.push(performance.now() - due)
              bytes += size
            } else if (status === 503) refused++
            else failed++
          }
          resolve()
        },
        onResponseError() {
          if (isCounted) failed++
          resolve()
        },
      }
      const path = paths[index % paths.length] ?? ''
      pool.dispatch({ method: 'GET', path, headers }, handler)
    })
  const requests: Promise<void>[] = []
  const started = performance.now()
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const dueCount = Math.min(end, ((performance.now() - started) * perSecond) / 1000)
      while (requests.length < dueCount) {
        const index = requests.length
        if (index === firstCounted) on.counting?.()
        requests.push(ask(index, started + (index * 1000) / perSecond))
      }
      if (requests.length < end) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  on.allSent?.()
  const giveUp = setTimeout(() => void pool.destroy(), DRAIN_MS)
  await Promise.all(requests)
  clearTimeout(giveUp)
  await pool.destroy()
  const sorted = times.sort((a, b) => a - b)
  return {
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    times: sorted,
    answered: sorted.length,
    refused,
    bytes,
    heldBack,
    failed,
  }
}
