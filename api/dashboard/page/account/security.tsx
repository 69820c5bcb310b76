import { useState } from 'preact/hooks'
import { timeText } from '../amounts.ts'
import type { AccountEvents } from '../answers.ts'
import type { Unanswered } from '../ask.ts'
import { Empty, Failure, focusIt, Shown, Table } from '../components.tsx'
import { signOutEverywhere } from '../sign-in.ts'
import { useAsk } from '../use-ask.ts'
import { eventText, networkText } from './event-text.ts'

/** Recent security events, and the way to end every sign-in. */
export function SecuritySection() {
  const asked = useAsk<AccountEvents>('/me/events?limit=10')
  return (
    <section aria-labelledby="security">
      <h2 id="security" tabIndex={-1}>
        Security
      </h2>
      <Shown asked={asked} what="recent events">
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              <p>Nothing has happened in the last 90 days.</p>
            </Empty>
          ) : (
            <Table
              caption="Recent events, newest first"
              head={['When', 'Event', 'Network']}
              rows={items.map((item) => [
                timeText(item.at),
                eventText(item),
                networkText(item.network),
              ])}
            />
          )
        }
      </Shown>
      <p class="about">
        Do you see a sign-in that was not you? Sign out everywhere, and rotate the API key.
      </p>
      <SignOutEverywhere />
    </section>
  )
}

/** Two steps, because other browsers are signed out too. */
function SignOutEverywhere() {
  const [step, setStep] = useState<'idle' | 'asked' | 'leaving'>('idle')
  const [failure, setFailure] = useState<Unanswered | null>(null)
  const leave = async () => {
    if (step === 'leaving') return
    setStep('leaving')
    setFailure(null)
    const answered = await signOutEverywhere()
    if (answered.kind === 'answer') return // the page that asks to sign in is here now
    setStep('idle')
    focusSecurity()
    setFailure(answered)
  }
  const stay = () => {
    if (step === 'leaving') return
    setStep('idle')
    focusSecurity()
  }
  return (
    <>
      {step === 'idle' ? (
        <button type="button" onClick={() => setStep('asked')}>
          Sign out everywhere
        </button>
      ) : (
        <div class="card" role="alert" ref={focusIt} tabIndex={-1}>
          <p>
            <strong>Sign out everywhere?</strong> Every browser that is signed in with this wallet
            is signed out at once, this one too. The API key stays valid.
          </p>
          <p class="actions">
            <button
              type="button"
              class="danger"
              aria-disabled={step === 'leaving'}
              onClick={() => void leave()}
            >
              Sign out everywhere now
            </button>
            <button type="button" aria-disabled={step === 'leaving'} onClick={stay}>
              Stay signed in
            </button>
          </p>
        </div>
      )}
      {failure !== null && <Failure failure={failure} again={() => void leave()} />}
    </>
  )
}

/** The button that was pressed is gone: the focus goes to the heading of its section. */
function focusSecurity(): void {
  document.getElementById('security')?.focus()
}
