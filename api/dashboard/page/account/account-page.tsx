import { useEffect, useState } from 'preact/hooks'
import { creditsText, timeText } from '../amounts.ts'
import type { Account } from '../answers.ts'
import type { Unanswered } from '../ask.ts'
import { CopyButton, Failure, focusIt, Loading, Page } from '../components.tsx'
import { useSession, useUnstoredKey } from '../session.ts'
import { signOut } from '../sign-in.ts'
import { refreshAccount, rotateKey, useAccount } from './account.ts'
import { SecuritySection } from './security.tsx'

/** Who is signed in, what is left, and the API key. */
export function AccountPage() {
  const session = useSession()
  const account = useAccount()
  const [failure, setFailure] = useState<Unanswered | null>(null)
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let isHere = true
    setFailure(null)
    refreshAccount().then((answered) => {
      if (isHere && answered.kind !== 'answer') setFailure(answered)
    })
    return () => {
      isHere = false
    }
  }, [turn])
  const again = () => setTurn((before) => before + 1)
  return (
    <Page title="Account">
      {failure !== null && <Failure failure={failure} again={again} />}
      {account === null ? (
        failure === null && <Loading what="your account" />
      ) : (
        <>
          <dl class="figures">
            <div>
              <dt>Balance</dt>
              <dd class="large">{creditsText(account.balance_credits)}</dd>
            </div>
            <div>
              <dt>Wallet</dt>
              <dd>
                <code class="address">{account.wallet}</code>
              </dd>
            </div>
          </dl>
          <p class="actions">
            <a class="button" href="#/top-up">
              Top up credits
            </a>
            <button type="button" onClick={again}>
              Look again
            </button>
          </p>
          {account.balance_credits <= 0 && (
            <p class="notice">
              Without credits calls of the API and the live feed are refused.{' '}
              <a href="#/top-up">Top up</a>
            </p>
          )}
          <KeySection account={account} />
        </>
      )}
      <SecuritySection />
      <section aria-labelledby="leave">
        <h2 id="leave">Sign out</h2>
        <p class="about">
          {session !== null && `Signed in until ${timeText(session.expiresAt)}. `}
          Signing out takes your token back everywhere; the API key stays valid.
        </p>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </section>
    </Page>
  )
}

function KeySection({ account }: { readonly account: Account }) {
  const [unstored, stored] = useUnstoredKey()
  const { api_key_last4, api_key_created_at, api_key_rotated_at, last_used_at } = account
  return (
    <section aria-labelledby="key">
      <h2 id="key" tabIndex={-1}>
        API key
      </h2>
      {unstored === null ? (
        <p>
          Your key ends in <code>{api_key_last4}</code>. The whole of it was shown once and is kept
          nowhere; a key that was lost is replaced by a new one.
        </p>
      ) : (
        <div class="card important" role="status">
          <p>
            <strong>This is your API key. It is shown this once:</strong> store it where your
            programs find it and nobody else does.
          </p>
          <p>
            <code class="secret">{unstored}</code>
          </p>
          <p class="actions">
            <CopyButton text={unstored} what="API key" />
            <button
              type="button"
              class="primary"
              onClick={() => {
                stored()
                focusKey()
              }}
            >
              I have stored it
            </button>
          </p>
          <p class="about">
            Until you reload or leave, the pages of this dashboard use it too; what they ask of the
            API costs credits, and says so.
          </p>
        </div>
      )}
      <dl class="figures">
        <div>
          <dt>First made</dt>
          <dd>{timeText(api_key_created_at)}</dd>
        </div>
        <div>
          <dt>Replaced</dt>
          <dd>{api_key_rotated_at === null ? 'never' : timeText(api_key_rotated_at)}</dd>
        </div>
        <div>
          <dt>Last used</dt>
          <dd>{last_used_at === null ? 'never' : timeText(last_used_at)}</dd>
        </div>
      </dl>
      <Rotation />
    </section>
  )
}

/** Two steps, for the first key is invalid at once. */
function Rotation() {
  const [step, setStep] = useState<'idle' | 'asked' | 'rotating'>('idle')
  const [failure, setFailure] = useState<Unanswered | null>(null)
  const rotate = async () => {
    if (step === 'rotating') return
    setStep('rotating')
    setFailure(null)
    const answered = await rotateKey()
    setStep('idle')
    focusKey()
    if (answered.kind !== 'answer') setFailure(answered)
  }
  const keep = () => {
    if (step === 'rotating') return
    setStep('idle')
    focusKey()
  }
  return (
    <>
      {step === 'idle' ? (
        <button type="button" onClick={() => setStep('asked')}>
          Rotate API key
        </button>
      ) : (
        <div class="card" role="alert" ref={focusIt} tabIndex={-1}>
          <p>
            <strong>Replace the key?</strong> The one in use is invalid at once, everywhere, and
            live feeds that came with it are closed.
          </p>
          <p class="actions">
            <button
              type="button"
              class="danger"
              aria-disabled={step === 'rotating'}
              onClick={() => void rotate()}
            >
              Replace the key now
            </button>
            <button type="button" aria-disabled={step === 'rotating'} onClick={keep}>
              Keep the key
            </button>
          </p>
        </div>
      )}
      {failure !== null && <Failure failure={failure} again={() => void rotate()} />}
    </>
  )
}

/** What was pressed is not there any more: the focus goes to the head of its section. */
function focusKey(): void {
  document.getElementById('key')?.focus()
}
