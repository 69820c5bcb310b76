import { useCallback, useEffect, useState } from 'preact/hooks'
import { ask, credentialOf, type Unanswered } from './ask.ts'
import { useApiKey, useSession } from './session.ts'

/** How a question stands. `again` asks once more; what was answered before stays until then. */
export type Asked<Body> = { readonly again: () => void } & (
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: Unanswered }
  | {
      readonly state: 'answered'
      readonly body: Body
      readonly headers: Headers
      /** Asked once more, and not answered yet. */
      readonly isAsking: boolean
      /** The last attempt to ask once more failed, and this is what was known before. */
      readonly failure: Unanswered | null
    }
)

interface Kept<Body> {
  readonly path: string | null
  readonly answer: { readonly body: Body; readonly headers: Headers } | null
  readonly failure: Unanswered | null
  readonly isAsking: boolean
}

/**
 * Asks for a path when the view is shown, and again when path, session or key change; null: not yet. With `everySeconds` it asks again so long after each
 * answer, while the page is to be seen.
 */
export function useAsk<Body>(
  path: string | null,
  { method, everySeconds }: { readonly method?: 'POST'; readonly everySeconds?: number } = {},
): Asked<Body> {
  const credential = credentialOf(path ?? '')
  const token = useSession()?.token
  const [key] = useApiKey()
  const secret = credential === 'token' ? token : credential === 'key' ? key : undefined
  const [kept, setKept] = useState<Kept<Body>>(nothing)
  const [turn, setTurn] = useState(0)
  const again = useCallback(() => setTurn((before) => before + 1), [])

  useEffect(() => {
    if (path === null) return
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    setKept((before) => ({ ...(before.path === path ? before : nothing()), path, isAsking: true }))
    ask<Body>(path, credential, { signal: leaving.signal, ...(method && { method }) }).then(
      (answered) => {
        if (leaving.signal.aborted) return
        setKept((before) =>
          answered.kind === 'answer'
            ? { path, answer: answered, failure: null, isAsking: false }
            : { ...before, path, failure: answered, isAsking: false },
        )
        if (everySeconds !== undefined) timer = setTimeout(whenSeen, everySeconds * 1000)
      },
      () => {}, // left before it was answered
    )
    const whenSeen = () => {
      if (document.visibilityState === 'visible') again()
      else document.addEventListener('visibilitychange', whenSeen, { once: true })
    }
    return () => {
      leaving.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', whenSeen)
    }
  }, [path, credential, secret, method, everySeconds, turn])

  const { answer, failure, isAsking } = kept.path === path ? kept : nothing<Body>()
  if (answer !== null) return { state: 'answered', ...answer, isAsking, failure, again }
  return failure === null || isAsking
    ? { state: 'loading', again }
    : { state: 'failed', failure, again }
}

function nothing<Body>(): Kept<Body> {
  return { path: null, answer: null, failure: null, isAsking: false }
}
