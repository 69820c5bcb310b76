import type { ComponentChildren } from 'preact'
import { FailureNotice } from '../components/failure-notice.tsx'
import type { DepositCheck } from './use-deposit-check.ts'

/** The button that checks for deposits, and the progress and result of the check. */
export function DepositCheckView<Body>(props: {
  readonly check: DepositCheck<Body>
  readonly start: () => void
  readonly stop: () => void
  /** Renders the response in which the payment was found. */
  readonly found: (body: Body) => ComponentChildren
}) {
  const { check, start, stop } = props
  const isChecking = check.state === 'checking'
  return (
    <>
      <p class="actions">
        <button
          type="button"
          class="primary"
          aria-disabled={isChecking}
          onClick={() => isChecking || start()}
        >
          Check for deposits
        </button>
        {isChecking && (
          <button type="button" onClick={stop}>
            Stop checking
          </button>
        )}
      </p>
      <div role="status" class="progress">
        {isChecking && (
          <>
            <p>
              Checking for your payment. It counts once Solana has finalized it, about 13 seconds
              after you sent it. If you leave this page, come back and check again: the check is
              what credits it.
            </p>
            <progress aria-label="Checks so far" value={check.attempt} max={check.maxAttempts} />
          </>
        )}
        {check.state === 'found' && <div class="card good">{props.found(check.body)}</div>}
        {check.state === 'not_found' && (
          <p class="notice">
            No new payment from your wallet was found. If you have paid, check again in a minute.
            Your payment is not lost.
          </p>
        )}
      </div>
      {check.state === 'failed' && <FailureNotice failure={check.failure} retry={start} />}
    </>
  )
}
