import { useCallback, useEffect, useState } from 'preact/hooks'
import { type ApiFailure, callApi, credentialFor } from './call-api.ts'
import { useSession } from './session.ts'

/** The state of a request. `reload` sends it again; the previous response stays until then. */
export type ApiQuery<Body> = { readonly reload: () => void } & (
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: ApiFailure }
  | {
      readonly state: 'loaded'
      readonly body: Body
      /** Why the last reload failed. `body` is then the response of the previous load. */
      readonly failure: ApiFailure | null
    }
)

interface QueryState<Body> {
  readonly path: string
  readonly response: { readonly body: Body } | null
  readonly failure: ApiFailure | null
  readonly isLoading: boolean
}

/** Sends a request when the component mounts, and again when path or session change. */
export function useApi<Body>(path: string, method?: 'POST'): ApiQuery<Body> {
  const credential = credentialFor(path)
  const token = useSession()?.token
  const secret = credential === 'none' ? undefined : token
  const [query, setQuery] = useState<QueryState<Body>>(() => initialState(path))
  const [reloads, setReloads] = useState(0)
  const reload = useCallback(() => setReloads((count) => count + 1), [])

  useEffect(() => {
    const unmount = new AbortController()
    setQuery((before) => ({
      ...(before.path === path ? before : initialState<Body>(path)),
      isLoading: true,
    }))
    callApi<Body>(path, credential, { signal: unmount.signal, ...(method && { method }) }).then(
      (result) => {
        if (unmount.signal.aborted) return
        setQuery((before) =>
          result.kind === 'ok'
            ? { path, response: result, failure: null, isLoading: false }
            : { ...before, path, failure: result, isLoading: false },
        )
      },
      () => {}, // aborted
    )
    return () => unmount.abort()
  }, [path, credential, secret, method, reloads])

  const { response, failure, isLoading } = query.path === path ? query : initialState<Body>(path)
  if (response !== null) return { state: 'loaded', body: response.body, failure, reload }
  return failure === null || isLoading
    ? { state: 'loading', reload }
    : { state: 'failed', failure, reload }
}

function initialState<Body>(path: string): QueryState<Body> {
  return { path, response: null, failure: null, isLoading: false }
}
