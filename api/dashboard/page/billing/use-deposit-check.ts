import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ApiFailure, ApiResult } from '../call-api.ts'

/** The service finds a payment once it is finalized, some 13 s after it was sent. */
const INTERVAL_MS = 4000
const MAX_ATTEMPTS = 20

/** The state of the search for a payment. */
export type DepositCheck<Body> =
  | { readonly state: 'idle' }
  | { readonly state: 'checking'; readonly attempt: number; readonly maxAttempts: number }
  | { readonly state: 'found'; readonly body: Body }
  | { readonly state: 'not_found' }
  | { readonly state: 'failed'; readonly failure: ApiFailure }

/**
 * Repeats `request` every 4 s, 20 times at most, until `isFound` accepts a response.
 * Failures that may pass (unreachable, 429, 503) count as attempts; any other ends the search.
 */
export function useDepositCheck<Body>(
  request: () => Promise<ApiResult<Body>>,
  isFound: (body: Body) => boolean,
): { readonly check: DepositCheck<Body>; readonly start: () => void; readonly stop: () => void } {
  const [check, setCheck] = useState<DepositCheck<Body>>({ state: 'idle' })
  /** Counts the searches. A search whose number is no longer current ends. */
  const search = useRef(0)
  const stop = useCallback(() => {
    search.current++
    setCheck({ state: 'idle' })
  }, [])
  const start = useCallback(() => {
    const own = ++search.current
    const isCurrent = () => search.current === own
    const attemptOnce = async (attempt: number): Promise<void> => {
      setCheck({ state: 'checking', attempt, maxAttempts: MAX_ATTEMPTS })
      const result = await request()
      if (!isCurrent()) return
      const outcome = outcomeOf(result, isFound, attempt === MAX_ATTEMPTS)
      if (outcome !== null) return setCheck(outcome)
      await new Promise((resolve) => setTimeout(resolve, delayMs(result)))
      if (isCurrent()) await attemptOnce(attempt + 1)
    }
    void attemptOnce(1)
  }, [request, isFound])
  useEffect(
    () => () => {
      search.current++ // The component unmounts.
    },
    [],
  )
  return { check, start, stop }
}

/** Returns the state that ends the search, or null to continue it. */
function outcomeOf<Body>(
  result: ApiResult<Body>,
  isFound: (body: Body) => boolean,
  isLast: boolean,
): DepositCheck<Body> | null {
  if (result.kind === 'ok' && isFound(result.body)) return { state: 'found', body: result.body }
  if (result.kind !== 'ok' && (isLast || !isTransient(result)))
    return { state: 'failed', failure: result }
  return isLast ? { state: 'not_found' } : null
}

function isTransient(failure: ApiFailure): boolean {
  return failure.kind === 'unreachable' || failure.status === 503 || failure.status === 429
}

function delayMs(result: ApiResult<unknown>): number {
  return result.kind === 'refused' && result.retryAfter !== null
    ? Math.max(INTERVAL_MS, result.retryAfter * 1000)
    : INTERVAL_MS
}
