import { type Dispatcher, Pool } from 'undici'
import { percentile } from '../kit/figures.ts'
import type { LoadOptions } from './load.ts'

/** Latencies and failures of paced requests. */
export interface Arrivals {
  /**
   * Milliseconds from when a request was due to the end of its response, which includes waiting for
   * a connection.
   */
  readonly p50: number
  readonly p99: number
  /** All latencies, ascending. */
  readonly times: readonly number[]
  readonly answered: number
  readonly failed: number
}

/**
 * Sends requests for the paths in turn at a constant rate, independent of response times, on at
 * most `connections` connections. autocannon does not: each of its connections uses up the share of
 * a second as fast as it can, then rests, and it counts each wait of n milliseconds as n waits.
 * undici takes a third of the CPU of `node:http`, which matters as the service shares the cores.
 */
export async function arrivals(
  options: LoadOptions & { readonly perSecond: number },
): Promise<Arrivals> {
  const { url, key, paths, seconds, connections, perSecond } = options
  const pool = new Pool(url, { connections })
  const headers = { authorization: `Bearer ${key}` }
  const times: number[] = []
  let failed = 0
  const ask = (path: string, due: number) =>
    new Promise<void>((resolve) => {
      let status = 0
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode
        },
        onResponseData() {},
        onResponseEnd() {
          if (status === 200) times.push(performance.now() - due)
          else failed++
          resolve()
        },
        onResponseError() {
          failed++
          resolve()
        },
      }
      pool.dispatch({ method: 'GET', path, headers }, handler)
    })
  const count = Math.round(perSecond * seconds)
  const requests: Promise<void>[] = []
  const started = performance.now()
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const dueCount = Math.min(count, ((performance.now() - started) * perSecond) / 1000)
      while (requests.length < dueCount) {
        const index = requests.length
        requests.push(ask(paths[index % paths.length] ?? '', started + (index * 1000) / perSecond))
      }
      if (requests.length < count) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  await Promise.all(requests)
  await pool.close()
  const sorted = times.sort((a, b) => a - b)
  return {
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    times: sorted,
    answered: sorted.length,
    failed,
  }
}
