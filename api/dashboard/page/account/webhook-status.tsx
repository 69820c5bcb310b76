import { useState } from 'preact/hooks'
import { type ApiFailure, callApi } from '../call-api.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import type { WebhookEntry } from '../responses.ts'
import { webhookStatusText } from './webhook-text.ts'

/** Whether a webhook delivers, and where its owner can buy what is missing. */
export function WebhookStatus({ hook }: { readonly hook: WebhookEntry }) {
  const { status, channel } = hook
  return (
    <>
      <span class={status === 'active' && hook.failing_since === null ? 'is-good' : ''}>
        {webhookStatusText(hook, Date.now() / 1000)}
      </span>{' '}
      {status === 'balance_exhausted' && <a href="#/top-up">Top up credits</a>}
      {status === 'disabled' && channel !== 'trades' && <a href="#/pro">See the Pro plans</a>}
    </>
  )
}

/** Pauses a webhook, or resumes one that is paused for any reason. */
export function PauseButton(props: { readonly hook: WebhookEntry; readonly reload: () => void }) {
  const { hook, reload } = props
  const { failure, run } = useWebhookAction(hook, reload)
  const isPaused = ['paused', 'failing', 'gone'].includes(hook.status)
  const status = isPaused ? 'active' : 'paused'
  return (
    <>
      <button type="button" onClick={() => void run('', { method: 'PATCH', body: { status } })}>
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      {failure !== null && <FailureNotice failure={failure} />}
    </>
  )
}

/**
 * Returns a function that sends a request to a path below that of a webhook, and calls `done` if it
 * succeeded. It resolves with the failure, or null.
 */
export function useWebhookAction({ id }: Pick<WebhookEntry, 'id'>, done: () => void) {
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const [isRunning, setIsRunning] = useState(false)
  const run = async (
    path: string,
    request: { readonly method: 'POST' | 'PATCH'; readonly body?: object },
  ): Promise<ApiFailure | null> => {
    if (isRunning) return null
    setIsRunning(true)
    setFailure(null)
    const result = await callApi(`/me/webhooks/${id}${path}`, 'token', request)
    setIsRunning(false)
    const failed = result.kind === 'ok' ? null : result
    setFailure(failed)
    if (failed === null) done()
    return failed
  }
  return { failure, run }
}
