import autocannon from 'autocannon'

export interface LoadOptions {
  readonly url: string
  readonly key: string
  readonly paths: readonly string[]
  readonly seconds: number
  readonly connections: number
}

export interface Load {
  readonly perSecond: number
  /** Answers by their status, connections that broke and answers that did not come. */
  readonly ok: number
  readonly failed: number
  /** What was answered, by status. */
  readonly statuses: Readonly<Record<string, number>>
}

/** Asks for the paths in turn on so many connections at once, as fast as they are answered, from this process. */
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
