import { useCallback, useEffect, useState } from 'preact/hooks'
import { type ApiFailure, type ApiResult, callApi } from '../call-api.ts'
import { useSession } from '../session.ts'
import { usePreferences } from './preferences.ts'
import { type CachedResponse, createResponseCache, type ResponseCache } from './response-cache.ts'

/** Responses that credits paid for. They stay while the page is open and the wallet the same. */
const cache: ResponseCache = createResponseCache(60)

/** A request of the product API. It costs credits, so it waits until the customer sends it. */
export interface PaidQuery<Body> {
  readonly path: string
  /** Credits. */
  readonly price: number
  readonly response: CachedResponse<Body> | null
  readonly failure: ApiFailure | null
  readonly isLoading: boolean
  /** Sends the request. */
  load(): void
}

interface SentRequest {
  readonly path: string
  readonly failure: ApiFailure | null
}

/**
 * Returns the state of a paid request. A response of an earlier request for the same path is shown
 * again for free. The request is sent by `load`, or on mount if the customer chose that and the
 * query is not `onlyByClick`.
 */
export function usePaidQuery<Body>(
  path: string,
  price: number,
  onlyByClick = false,
): PaidQuery<Body> {
  const wallet = useSession()?.wallet ?? null
  const [{ loadsOnOpen }] = usePreferences()
  const [, rerender] = useState(0)
  const [sent, setSent] = useState<SentRequest | null>(null)
  cache.useAccount(wallet)
  const response = cache.get<Body>(path)
  const load = useCallback(() => {
    const request: SentRequest = { path, failure: null }
    setSent(request)
    callApi<Body>(path, 'key').then((result) => {
      const failure = store(path, result)
      setSent((now) => (now === request ? failure && { ...request, failure } : now))
      rerender((count) => count + 1)
    })
  }, [path])
  const isSent = sent?.path === path
  useEffect(() => {
    if (loadsOnOpen && !onlyByClick && response === null && !isSent) load()
  }, [loadsOnOpen, onlyByClick, response, isSent, load])
  const failure = isSent ? sent.failure : null
  return { path, price, response, failure, isLoading: isSent && failure === null, load }
}

/** Caches a part of a response under the path that serves the part alone. */
export function cachePart(path: string, body: unknown, whole: CachedResponse<unknown>): void {
  cache.set(path, { ...whole, body })
}

function store(path: string, result: ApiResult<unknown>): ApiFailure | null {
  if (result.kind !== 'ok') return result
  const remaining = result.headers.get('x-credits-remaining')
  cache.set(path, {
    body: result.body,
    receivedAt: Date.now() / 1000,
    creditsRemaining: remaining === null ? null : Number(remaining),
  })
  return null
}
