import autocannon from 'autocannon'

export interface LoadOptions {
  readonly url: string
  readonly key: string
  readonly paths: readonly string[]
  readonly seconds: number
  readonly connections: number
  /** Requests a second over all connections; as many as are answered when left out. */
  readonly rate?: number
}

export interface Load {
  readonly perSecond: number
  /** Milliseconds, waiting for a turn at the given rate counted in. */
  readonly p50: number
  readonly p99: number
  /** Answers by their status, connections that broke and answers that did not come. */
  readonly ok: number
  readonly failed: number
  /** What was answered, by status. */
  readonly statuses: Readonly<Record<string, number>>
}

/** Asks for the paths in turn on so many connections at once, from this process. */
export async function load({
  url,
  key,
  paths,
  seconds,
  connections,
  rate,
}: LoadOptions): Promise<Load> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    ...(rate !== undefined && { overallRate: rate }),
    headers: { authorization: `Bearer ${key}` },
    requests: paths.map((path) => ({ method: 'GET' as const, path })),
    excludeErrorStats: false,
  })
  return {
    perSecond: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
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
