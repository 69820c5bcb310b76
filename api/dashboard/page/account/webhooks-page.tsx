import { formatUtcTime } from '../amounts.ts'
import { callApi } from '../call-api.ts'
import { PageLayout } from '../components/page-layout.tsx'
import { EmptyNotice, QueryView } from '../components/query-view.tsx'
import type { NewWebhookResponse, WebhookEntry, WebhooksResponse } from '../responses.ts'
import { setNewHookSecret, useUnsavedHookSecret } from '../session.ts'
import { useApi } from '../use-api.ts'
import { useReloading } from '../use-reloading.ts'
import { NewApiKey } from './api-key-section.tsx'
import { WebhookFields } from './webhook-fields.tsx'
import { PauseButton, WebhookStatus } from './webhook-status.tsx'
import { formOf } from './webhook-terms.ts'
import { filterText, hostOf } from './webhook-text.ts'

const RELOAD_SECONDS = 10

/** The webhooks of the account: list and create. */
export function WebhooksPage() {
  const query = useApi<WebhooksResponse>('/me/webhooks')
  useReloading(query, RELOAD_SECONDS)
  return (
    <PageLayout
      title="Webhooks"
      about="The service posts each new trade to a URL of yours, in order, for 1 credit a trade. Repeated deliveries are free."
    >
      <section aria-labelledby={LIST_ID}>
        <h2 id={LIST_ID} tabIndex={-1}>
          Your webhooks
        </h2>
        <NewSecret headingId={LIST_ID} />
        <QueryView query={query} what="your webhooks">
          {({ items }) =>
            items.length === 0 ? (
              <EmptyNotice>You have no webhooks.</EmptyNotice>
            ) : (
              items.map((hook) => <WebhookCard key={hook.id} hook={hook} reload={query.reload} />)
            )
          }
        </QueryView>
      </section>
      <NewWebhook onCreated={query.reload} />
    </PageLayout>
  )
}

const LIST_ID = 'webhooks'

/** The secret of a webhook that was just created or rotated, until the customer has saved it. */
export function NewSecret({ headingId }: { readonly headingId: string }) {
  const [unsaved, confirmSaved] = useUnsavedHookSecret()
  if (unsaved === null) return null
  return (
    <NewApiKey
      what={`the secret of your webhook to ${hostOf(unsaved.url)}, which verifies its deliveries`}
      apiKey={unsaved.secret}
      kind="secret"
      confirmSaved={confirmSaved}
      headingId={headingId}
    />
  )
}

function WebhookCard({
  hook,
  reload,
}: {
  readonly hook: WebhookEntry
  readonly reload: () => void
}) {
  return (
    <article class="card" aria-labelledby={hook.id}>
      <h3 id={hook.id}>
        <a href={`#/webhooks/${hook.id}`}>{hook.url}</a>
      </h3>
      <p>
        <WebhookStatus hook={hook} />
      </p>
      <p class="about">
        {filterText(hook)}. Created {formatUtcTime(hook.created_at)}.
      </p>
      <p class="actions">
        <PauseButton hook={hook} reload={reload} />
      </p>
    </article>
  )
}

function NewWebhook({ onCreated }: { readonly onCreated: () => void }) {
  return (
    <section aria-labelledby="new-webhook">
      <h2 id="new-webhook">New webhook</h2>
      <WebhookFields
        initial={EMPTY}
        isNew
        send={async (body) => {
          const result = await callApi<NewWebhookResponse>('/me/webhooks', 'token', {
            method: 'POST',
            body,
          })
          if (result.kind !== 'ok') return result
          setNewHookSecret(result.body)
          onCreated()
          return null
        }}
      />
    </section>
  )
}

const EMPTY = formOf({ url: '', channel: 'trades', wallets: null, mints: null })
