import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Answered, Unanswered } from '../ask.ts'

/** A transfer is finalized some 13 s after it was sent; who has only just paid in a wallet takes a while to come here. */
const EVERY_MS = 4000
const MOST_LOOKS = 20

/** How looking for a payment stands. */
export type Check<Body> =
  | { readonly state: 'idle' }
  | { readonly state: 'looking'; readonly look: number; readonly of: number }
  | { readonly state: 'found'; readonly body: Body }
  | { readonly state: 'nothing' }
  | { readonly state: 'failed'; readonly failure: Unanswered }

/** Looks for a payment again and again, for a bounded time, until an answer `isFound`; one that the chain could not be asked for (503) is a look like any other. */
export function useCheck<Body>(
  ask: () => Promise<Answered<Body>>,
  isFound: (body: Body) => boolean,
): { readonly check: Check<Body>; readonly start: () => void; readonly stop: () => void } {
  const [check, setCheck] = useState<Check<Body>>({ state: 'idle' })
  const running = useRef(0)
  const stop = useCallback(() => {
    running.current++
    setCheck({ state: 'idle' })
  }, [])
  const start = useCallback(() => {
    const mine = ++running.current
    const isMine = () => running.current === mine
    const look = async (count: number): Promise<void> => {
      setCheck({ state: 'looking', look: count, of: MOST_LOOKS })
      const answered = await ask()
      if (!isMine()) return
      if (answered.kind === 'answer' && isFound(answered.body))
        return setCheck({ state: 'found', body: answered.body })
      const isLast = count === MOST_LOOKS
      if (answered.kind !== 'answer' && (isLast || !mayPass(answered)))
        return setCheck({ state: 'failed', failure: answered })
      if (isLast) return setCheck({ state: 'nothing' })
      await new Promise((resolve) => setTimeout(resolve, waitMs(answered)))
      if (isMine()) await look(count + 1)
    }
    void look(1)
  }, [ask, isFound])
  useEffect(
    () => () => {
      running.current++ // the page was left
    },
    [],
  )
  return { check, start, stop }
}

/** What is wrong now and may be right at the next look. */
function mayPass(failure: Unanswered): boolean {
  return failure.kind === 'unreachable' || failure.status === 503 || failure.status === 429
}

function waitMs(answered: Answered<unknown>): number {
  return answered.kind === 'refused' && answered.retryAfter !== null
    ? Math.max(EVERY_MS, answered.retryAfter * 1000)
    : EVERY_MS
}
