import { useState } from 'preact/hooks'
import { formatUtcTime } from '../amounts.ts'
import { callApi } from '../call-api.ts'
import { ConfirmAction } from '../components/confirm-action.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { PageLayout } from '../components/page-layout.tsx'
import { QueryView } from '../components/query-view.tsx'
import type { PageProps } from '../page-props.ts'
import type {
  DeliveriesResponse,
  DeliveryEntry,
  NewWebhookResponse,
  WebhookEntry,
  WebhooksResponse,
} from '../responses.ts'
import { setNewHookSecret } from '../session.ts'
import { type ApiQuery, useApi } from '../use-api.ts'
import { useReloading } from '../use-reloading.ts'
import { WebhookDeliveries } from './webhook-deliveries.tsx'
import { WebhookFields } from './webhook-fields.tsx'
import { PauseButton, useWebhookAction, WebhookStatus } from './webhook-status.tsx'
import { formOf, webhookChange } from './webhook-terms.ts'
import { filterText, outcomeText } from './webhook-text.ts'
import { NewSecret } from './webhooks-page.tsx'

const RELOAD_SECONDS = 3

/** A webhook: its status, test, deliveries, replay, changes, secret and end. */
export function WebhookPage({ params: { id = '' } }: PageProps) {
  const query = useApi<WebhooksResponse>('/me/webhooks')
  useReloading(query, RELOAD_SECONDS)
  return (
    <PageLayout title="Webhook" about={<a href="#/webhooks">All webhooks</a>}>
      <QueryView query={query} what="the webhook">
        {({ items }) => {
          const hook = items.find((one) => one.id === id)
          if (hook === undefined) return <p>There is no such webhook any more.</p>
          return <Webhook key={id} hook={hook} reload={query.reload} />
        }}
      </QueryView>
    </PageLayout>
  )
}

interface HookProps {
  readonly hook: WebhookEntry
  readonly reload: () => void
}

function Webhook({ hook, reload }: HookProps) {
  const deliveries = useApi<DeliveriesResponse>(`/me/webhooks/${hook.id}/deliveries`)
  useReloading(deliveries, RELOAD_SECONDS)
  return (
    <>
      <NewSecret headingId={SECRET_ID} />
      <dl class="figures">
        <div>
          <dt>URL</dt>
          <dd>{hook.url}</dd>
        </div>
        <div>
          <dt>Messages</dt>
          <dd>{filterText(hook)}</dd>
        </div>
        <div>
          <dt>Status</dt>
          <dd>
            <WebhookStatus hook={hook} />
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>{formatUtcTime(hook.created_at)}</dd>
        </div>
      </dl>
      <p class="actions">
        <PauseButton hook={hook} reload={reload} />
        <TestButton hook={hook} deliveries={deliveries} />
      </p>
      <WebhookDeliveries hook={hook} deliveries={deliveries} reload={reload} />
      <section aria-labelledby="change">
        <h2 id="change">Change</h2>
        <p class="about">
          A new filter applies to what comes next. Replaying older trades costs credits again.
        </p>
        <WebhookFields
          initial={formOf(hook)}
          isNew={false}
          send={async (terms) => {
            const body = webhookChange(hook, terms)
            const result = await callApi(pathOf(hook), 'token', { method: 'PATCH', body })
            if (result.kind !== 'ok') return result
            reload()
            return null
          }}
        />
      </section>
      <Secret hook={hook} />
      <Deletion hook={hook} />
    </>
  )
}

function pathOf({ id }: WebhookEntry): string {
  return `/me/webhooks/${id}`
}

/** Delivers a test message, and says how the receiver answered once the deliveries show it. */
function TestButton(props: {
  readonly hook: WebhookEntry
  readonly deliveries: ApiQuery<DeliveriesResponse>
}) {
  const { hook, deliveries } = props
  const { failure, run } = useWebhookAction(hook, deliveries.reload)
  /** Ids of the tests before this one; null: none was sent from this page. */
  const [earlier, setEarlier] = useState<ReadonlySet<string> | null>(null)
  const tests =
    deliveries.state === 'loaded' ? deliveries.body.items.filter(({ kind }) => kind === 'test') : []
  const send = async () => {
    setEarlier(null)
    const failed = await run('/test', { method: 'POST' })
    if (failed === null) setEarlier(new Set(tests.map(({ id }) => id)))
  }
  const outcome = earlier === null ? undefined : tests.find(({ id }) => !earlier.has(id))
  return (
    <>
      <button type="button" onClick={() => void send()}>
        Send a test (free)
      </button>
      <span role="status">{earlier !== null && testText(outcome)}</span>
      {failure !== null && <FailureNotice failure={failure} />}
    </>
  )
}

function testText(outcome: DeliveryEntry | undefined): string {
  if (outcome === undefined) return 'Waiting for the outcome of the test…'
  return `The test: ${outcomeText(outcome)}, after ${outcome.latency_ms} ms.`
}

function Secret({ hook }: { readonly hook: WebhookEntry }) {
  return (
    <section aria-labelledby={SECRET_ID}>
      <h2 id={SECRET_ID} tabIndex={-1}>
        Secret
      </h2>
      <p class="about">
        It signs every delivery, by the Standard Webhooks specification. It was shown once; if you
        have lost it, rotate it.
      </p>
      <ConfirmAction
        button="Rotate secret"
        confirm="Rotate secret now"
        cancel="Keep the current secret"
        headingId={SECRET_ID}
        action={async () => {
          const path = `${pathOf(hook)}/secret`
          const result = await callApi<NewWebhookResponse>(path, 'token', { method: 'POST' })
          if (result.kind !== 'ok') return result
          setNewHookSecret(result.body)
          return null
        }}
      >
        <strong>Rotate the secret?</strong> You get a new one. For 24 hours each delivery has a
        signature of both, so that your receiver can change meanwhile. Then only the new one counts.
      </ConfirmAction>
    </section>
  )
}

const SECRET_ID = 'secret'

function Deletion({ hook }: { readonly hook: WebhookEntry }) {
  return (
    <section aria-labelledby={DELETE_ID}>
      <h2 id={DELETE_ID} tabIndex={-1}>
        Delete
      </h2>
      <ConfirmAction
        button="Delete webhook"
        confirm="Delete webhook now"
        cancel="Keep the webhook"
        headingId={DELETE_ID}
        action={async () => {
          const result = await callApi<undefined>(pathOf(hook), 'token', { method: 'DELETE' })
          if (result.kind !== 'ok') return result
          location.hash = '/webhooks'
          return 'left'
        }}
      >
        <strong>Delete this webhook?</strong> Nothing more is delivered, and its position in the
        feed and its deliveries are forgotten.
      </ConfirmAction>
    </section>
  )
}

const DELETE_ID = 'delete'
