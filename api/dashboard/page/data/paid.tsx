import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { creditsText } from '../amounts.ts'
import { type Answered, ask, type Unanswered } from '../ask.ts'
import { Failure, Loading } from '../components.tsx'
import { useApiKey } from '../session.ts'
import { type Answer, type AnswerStore, createAnswerStore } from './answer-store.ts'
import { Time } from './figure-text.tsx'
import { KeyNeeded } from './key-needed.tsx'
import { usePreferences } from './preferences.ts'

/** Answers that were paid for, while the page is open and the key the same. */
const answers: AnswerStore = createAnswerStore(60)

interface Question {
  readonly path: string
  readonly key: string | null
  readonly failure: Unanswered | null
}

/** Something of the product API: it costs credits, so it is asked for when a person says so. */
export interface Paid<Body> {
  readonly path: string
  readonly price: number
  readonly answer: Answer<Body> | null
  readonly failure: Unanswered | null
  readonly isLoading: boolean
  load(): void
}

/**
 * What the product API says at a path. An answer that was paid for before is shown again for nothing, with its age; a new one is asked for by `load`, or at once when the
 * person chose so.
 */
export function usePaid<Body>(path: string, price: number): Paid<Body> {
  const [key] = useApiKey()
  const [{ isEager }] = usePreferences()
  const [, redraw] = useState(0)
  const [asked, setAsked] = useState<Question | null>(null)
  answers.useKey(key)
  const answer = answers.get<Body>(path)
  const load = useCallback(() => {
    const question = { path, key, failure: null }
    setAsked(question)
    ask<Body>(path, 'key').then((answered) => {
      const failure = keep(path, answered)
      setAsked((now) => (now === question ? failure && { ...question, failure } : now))
      redraw((count) => count + 1)
    })
  }, [path, key])
  // What one key was refused says nothing of another.
  const isAsked = asked?.path === path && asked.key === key
  useEffect(() => {
    if (isEager && key !== null && answer === null && !isAsked) load()
  }, [isEager, key, answer, isAsked, load])
  const failure = isAsked ? asked.failure : null
  return { path, price, answer, failure, isLoading: isAsked && failure === null, load }
}

/** Keeps an answer that came as part of another one, such as a wallet of the list. */
export function keepPart(path: string, body: unknown, whole: Answer<unknown>): void {
  answers.set(path, { ...whole, body })
}

function keep(path: string, answered: Answered<unknown>): Unanswered | null {
  if (answered.kind !== 'answer') return answered
  const left = answered.headers.get('x-credits-remaining')
  answers.set(path, {
    body: answered.body,
    at: Date.now() / 1000,
    creditsLeft: left === null ? null : Number(left),
  })
  return null
}

/** What is paid for, in each of its states: no key, not asked yet, on its way, refused, there. */
export function PaidView<Body>(props: {
  readonly paid: Paid<Body>
  /** What it is, after a verb: “the wallets”. */
  readonly what: string
  readonly children: (answer: Answer<Body>) => ComponentChildren
}) {
  const { paid, what } = props
  const { answer, failure, isLoading, price, load } = paid
  const [key] = useApiKey()
  const isUnauthorized = failure?.kind === 'refused' && failure.status === 401
  if (key === null && answer === null) return <KeyNeeded what={what} price={price} />
  return (
    <>
      {failure !== null && <Failure failure={failure} again={load} price={price} />}
      {isUnauthorized && <KeyNeeded what={what} price={price} />}
      {isLoading && <Loading what={what} />}
      {answer === null ? (
        !isLoading && failure === null && <Offer what={what} price={price} load={load} />
      ) : (
        <>
          {props.children(answer)}
          <p class="as-of">
            As of <Time unix={Math.floor(answer.at)} />
            {answer.creditsLeft !== null && `, ${creditsText(answer.creditsLeft)} left then`}.{' '}
            <button type="button" class="small" disabled={isLoading} onClick={load}>
              Load again ({creditsText(price)})
            </button>
          </p>
        </>
      )}
    </>
  )
}

/** A page of several parts that are paid for: without a key it asks for one once, in their place. `price`: of a part, in credits. */
export function WithKey(props: {
  /** What they are, after a verb. */
  readonly what: string
  readonly price: number
  readonly children: ComponentChildren
}) {
  const [key] = useApiKey()
  return key === null ? <KeyNeeded what={props.what} price={props.price} /> : props.children
}

function Offer({ what, price, load }: { what: string; price: number; load: () => void }) {
  const [{ isEager }, choose] = usePreferences()
  return (
    <div class="offer">
      <button type="button" class="primary" onClick={load}>
        Load {what} ({creditsText(price)})
      </button>
      <label class="choice">
        <input
          type="checkbox"
          checked={isEager}
          onChange={(event) => choose({ isEager: event.currentTarget.checked })}
        />
        From now on load what I open without asking; each page costs 1 to 6 credits
      </label>
    </div>
  )
}
