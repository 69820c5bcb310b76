import type { ComponentChildren } from 'preact'
import { Failure } from '../components.tsx'
import type { Check } from './use-check.ts'

/** The button that looks for a payment, and how that goes, told to readers too. */
export function CheckView<Body>(props: {
  readonly check: Check<Body>
  readonly start: () => void
  readonly stop: () => void
  readonly button: string
  readonly found: (body: Body) => ComponentChildren
}) {
  const { check, start, stop, button } = props
  const isLooking = check.state === 'looking'
  return (
    <>
      <p class="actions">
        <button
          type="button"
          class="primary"
          aria-disabled={isLooking}
          onClick={() => isLooking || start()}
        >
          {button}
        </button>
        {isLooking && (
          <button type="button" onClick={stop}>
            Stop looking
          </button>
        )}
      </p>
      <div role="status" class="progress">
        {isLooking && (
          <>
            <p>
              Looking for your payment. It counts once the chain has finalized it, some 13 seconds
              after it was sent. Stay on this page until then, or come back later and look again:
              nothing is lost.
            </p>
            <progress aria-label="Looks so far" value={check.look} max={check.of} />
          </>
        )}
        {check.state === 'found' && <div class="card good">{props.found(check.body)}</div>}
        {check.state === 'nothing' && (
          <p class="notice">
            No new payment from your wallet was found so far. If you have paid, look again in a
            minute: nothing is lost, whenever you look.
          </p>
        )}
      </div>
      {check.state === 'failed' && <Failure failure={check.failure} again={start} />}
    </>
  )
}
