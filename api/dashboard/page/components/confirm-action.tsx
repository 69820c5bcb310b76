import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiFailure } from '../call-api.ts'
import { FailureNotice } from './failure-notice.tsx'
import { focusOnMount } from './page-layout.tsx'

/** A button for an action that cannot be undone. It asks for confirmation before it acts. */
export function ConfirmAction(props: {
  /** Text of the button that opens the confirmation. */
  readonly button: string
  /** The question, with what the action will do. */
  readonly children: ComponentChildren
  readonly confirm: string
  readonly cancel: string
  /** Resolves with the failure, with null on success, or `left` if this page is gone. */
  readonly action: () => Promise<ApiFailure | null | 'left'>
  /** Id of the heading that takes the focus when the question disappears. */
  readonly headingId: string
}) {
  const { action, headingId } = props
  const [step, setStep] = useState<'idle' | 'confirming' | 'running'>('idle')
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const close = () => {
    setStep('idle')
    document.getElementById(headingId)?.focus()
  }
  const run = async () => {
    if (step === 'running') return
    setStep('running')
    setFailure(null)
    const outcome = await action()
    if (outcome === 'left') return
    close()
    setFailure(outcome)
  }
  return (
    <>
      {step === 'idle' ? (
        <button type="button" onClick={() => setStep('confirming')}>
          {props.button}
        </button>
      ) : (
        <div class="card" role="alert" ref={focusOnMount} tabIndex={-1}>
          <p>{props.children}</p>
          <p class="actions">
            <button
              type="button"
              class="danger"
              aria-disabled={step === 'running'}
              onClick={() => void run()}
            >
              {props.confirm}
            </button>
            <button
              type="button"
              aria-disabled={step === 'running'}
              onClick={() => step === 'running' || close()}
            >
              {props.cancel}
            </button>
          </p>
        </div>
      )}
      {failure !== null && <FailureNotice failure={failure} retry={() => void run()} />}
    </>
  )
}
