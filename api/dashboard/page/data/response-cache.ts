/** A response of the product API. */
export interface CachedResponse<Body> {
  readonly body: Body
  /** Unix seconds at which the response was received. */
  readonly receivedAt: number
  /** Credits left after the request. Null if the response did not say. */
  readonly creditsRemaining: number | null
}

/** Responses by path, for one account. `useAccount` with another account clears the cache. */
export interface ResponseCache {
  useAccount(account: string | null): void
  get<Body>(path: string): CachedResponse<Body> | null
  set(path: string, response: CachedResponse<unknown>): void
}

/** Creates a cache that keeps the `maxEntries` responses that were set last. */
export function createResponseCache(maxEntries: number): ResponseCache {
  const responses = new Map<string, CachedResponse<unknown>>()
  let current: string | null = null
  return {
    useAccount(account) {
      if (account !== current) responses.clear()
      current = account
    },
    // A path has one type of body.
    get: <Body>(path: string) => (responses.get(path) ?? null) as CachedResponse<Body> | null,
    set(path, response) {
      responses.delete(path)
      responses.set(path, response)
      const [oldest] = responses.keys()
      if (responses.size > maxEntries && oldest !== undefined) responses.delete(oldest)
    },
  }
}
