import autocannon from 'autocannon'

/** Settings of a load. */
export interface LoadOptions {
  readonly url: string
  readonly key: string
  readonly paths: readonly string[]
  readonly seconds: number
  readonly connections: number
}

/** Results of a load. */
export interface Load {
  readonly perSecond: number
  /** Numbers of responses by status, of broken connections and of missing answers. */
  readonly ok: number
  readonly failed: number
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>
}

/**
 * Sends requests for the paths, round robin, over `connections` connections. Each connection sends
 * the next request as soon as it has a response.
 */
export async function load({ url, key, paths, seconds, connections }: LoadOptions): Promise<Load> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${key}` },
    requests: paths.map((path) => ({ method: 'GET' as const, path })),
    excludeErrorStats: false,
  })
  return {
    perSecond: result.requests.total / result.duration,
    ok: result['2xx'],
    failed: result.non2xx + result.errors + result.timeouts,
    statuses: Object.fromEntries(
      Object.entries(result.statusCodeStats ?? {}).map(([status, { count = 0 }]) => [
        status,
        count,
      ]),
    ),
  }
}
