import { useEffect } from 'preact/hooks'
import type { ApiQuery } from './use-api.ts'

/** How soon a query is repeated that has failed before its first response. */
const FAILED_SECONDS = 60

/** Reloads a query `seconds` after each response, while the page is visible. */
export function useReloading(query: ApiQuery<unknown>, seconds: number): void {
  const { state, reload } = query
  const body = query.state === 'loaded' ? query.body : null
  const failure = query.state === 'loading' ? null : query.failure
  // Each response and each failure starts the timer again.
  useEffect(() => {
    if (state === 'loading') return
    const ms = (state === 'failed' ? FAILED_SECONDS : seconds) * 1000
    let timer: ReturnType<typeof setTimeout>
    const wait = () => {
      timer = setTimeout(() => (document.hidden ? wait() : reload()), ms)
    }
    wait()
    return () => clearTimeout(timer)
  }, [state, body, failure, reload, seconds])
}
