import type { ComponentChildren } from 'preact'
import { useAtom } from '../atom.ts'
import { CopyButton } from '../components/copy-button.tsx'
import type { AccountResponse } from '../responses.ts'
import { useUnsavedApiKey } from '../session.ts'
import { totalCredits } from './account.ts'
import { firstSteps } from './first-steps-state.ts'

/**
 * What a new customer does first, with what is done already: from the key to the first live trade.
 * Nothing once all is done, or when the customer hides it.
 */
export function FirstSteps({ account }: { readonly account: AccountResponse }) {
  const steps = useAtom(firstSteps)
  const [unsavedKey] = useUnsavedApiKey()
  const hasCalled = account.last_used_at !== null
  const hasCredits = totalCredits(account) > 0
  const isDone = unsavedKey === null && hasCalled && steps.sawLiveTrade
  if (isDone || steps.isHidden) return null
  const call = `curl -H 'Authorization: Bearer ${unsavedKey ?? 'YOUR_API_KEY'}' '${location.origin}/trades?limit=3'`
  return (
    <section class="card" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol class="steps">
        <Step isDone>Sign in with your wallet.</Step>
        <Step isDone={unsavedKey === null}>
          Save <a href="#/account">your API key</a>, which is below. It is shown once.
        </Step>
        <Step isDone={hasCredits || hasCalled}>
          Get credits: <a href="#/top-up">top up</a>. A call costs 1 to 3, a live trade 1.
        </Step>
        <Step isDone={hasCalled}>
          Make your first call, for the newest trades (3 credits). It shows here within a minute,
          after Refresh.
          <code class="secret">{call}</code>
          <CopyButton text={call} what="first call" />
        </Step>
        <Step isDone={steps.sawLiveTrade}>
          See the first <a href="#/trades">live trade</a>, here or{' '}
          <a href="/docs/feed">in your program</a>.
        </Step>
      </ol>
      <p class="actions">
        <button
          type="button"
          class="small"
          onClick={() => firstSteps.set({ ...steps, isHidden: true })}
        >
          Hide these steps
        </button>
      </p>
    </section>
  )
}

function Step(props: { readonly isDone: boolean; readonly children: ComponentChildren }) {
  return (
    <li>
      {props.isDone && <strong class="is-good">Done. </strong>}
      {props.children}
    </li>
  )
}
