import type { ComponentChildren } from 'preact'
import { formatCredits } from '../amounts.ts'
import type { ApiFailure } from '../call-api.ts'

/** Says what went wrong and what to do next. */
export function FailureNotice(props: {
  readonly failure: ApiFailure
  /** Repeats the request. If absent, the notice has no retry button. */
  readonly retry?: () => void
  /** Credits that the retry costs. */
  readonly price?: number
}) {
  const { failure, retry, price = 0 } = props
  const { title, advice } = describe(failure)
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{title}</strong> {advice}
      </p>
      {failure.kind === 'refused' && failure.faults.length > 0 && (
        <ul>
          {failure.faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again{price > 0 && ` (${formatCredits(price)})`}
        </button>
      )}
      {failure.kind === 'refused' && failure.requestId !== '' && (
        <p class="about">
          Request ID <code>{failure.requestId}</code>
        </p>
      )}
    </div>
  )
}

interface Description {
  readonly title: string
  readonly advice: ComponentChildren
}

function describe(failure: ApiFailure): Description {
  if (failure.kind === 'refused')
    return { title: TITLES[failure.code] ?? failure.title, advice: adviceFor(failure) }
  return navigator.onLine
    ? { title: 'The service cannot be reached.', advice: 'Try again in a moment.' }
    : { title: 'You are offline.', advice: 'Try again when you are connected.' }
}

/** Titles for codes whose title in the API addresses programs or does not name the page. */
const TITLES: Readonly<Record<string, string>> = {
  unauthorized: 'Your sign-in is not valid any more.',
  rate_limited: 'Too many requests came from your network or account.',
  unavailable: 'The service is temporarily unavailable.',
  account_disabled: 'The operator of the service has disabled this account.',
  insufficient_credits: 'The credits left do not cover this request.',
  pro_required: 'This needs an active Pro subscription.',
}

function adviceFor(failure: Extract<ApiFailure, { kind: 'refused' }>): ComponentChildren {
  const { code, status, retryAfter } = failure
  if (code === 'insufficient_credits') return <a href="#/top-up">Top up credits</a>
  if (code === 'pro_required') return <a href="#/pro">See the Pro plans</a>
  if (status === 429)
    return `Wait ${retryAfter === null ? 'a minute' : `${retryAfter} s`}, then try again.`
  if (code === 'unauthorized') return <a href="#/account">Go to your account</a>
  return status >= 500 ? 'Nothing was charged. Try again in a moment.' : ''
}
