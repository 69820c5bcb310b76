import { formatUtcTime } from '../amounts.ts'
import { callApi } from '../call-api.ts'
import { ConfirmAction } from '../components/confirm-action.tsx'
import { PageLayout } from '../components/page-layout.tsx'
import { EmptyNotice, QueryView } from '../components/query-view.tsx'
import { ScrollTable } from '../components/scroll-table.tsx'
import type { ApiKeyEntry, ApiKeysResponse } from '../responses.ts'
import { useUnsavedNamedKey } from '../session.ts'
import { useApi } from '../use-api.ts'
import { NewApiKey } from './api-key-section.tsx'
import { SCOPE_TEXTS } from './key-terms.ts'
import { NewKeyForm } from './new-key-form.tsx'

/** The named API keys: list, create, delete. */
export function KeysPage() {
  const query = useApi<ApiKeysResponse>('/me/keys')
  const [unsaved, confirmSaved] = useUnsavedNamedKey()
  return (
    <PageLayout title="Keys">
      <p>
        API keys for single programs, beside the API key of your <a href="#/account">account</a>.
        They spend the same credits. Rotating the account’s key leaves them as they are.
      </p>
      <section aria-labelledby={LIST_ID}>
        <h2 id={LIST_ID} tabIndex={-1}>
          Your keys
        </h2>
        {unsaved !== null && (
          <NewApiKey
            what={`the key “${unsaved.name}”`}
            apiKey={unsaved.apiKey}
            confirmSaved={confirmSaved}
            headingId={LIST_ID}
          />
        )}
        <QueryView query={query} what="your keys">
          {({ items }) =>
            items.length === 0 ? (
              <EmptyNotice>You have no keys beside that of your account.</EmptyNotice>
            ) : (
              <ScrollTable
                caption="Keys, oldest first"
                head={HEAD}
                rows={items.map((key) => keyCells(key, query.reload))}
              />
            )
          }
        </QueryView>
      </section>
      <NewKeyForm onCreated={query.reload} />
    </PageLayout>
  )
}

const LIST_ID = 'keys'
const HEAD = ['Name', 'Ends in', 'Use', 'Addresses', 'Created', 'Expires', 'Last used', 'Action']

function keyCells(key: ApiKeyEntry, reload: () => void) {
  const { expires_at, last_used_at, allowed_addresses } = key
  const isExpired = expires_at !== null && expires_at <= Date.now() / 1000
  return [
    key.name,
    <code key="last4">{key.last4}</code>,
    key.scopes.map((scope) => SCOPE_TEXTS[scope]).join(', '),
    allowed_addresses === null ? 'all' : allowed_addresses.join(', '),
    formatUtcTime(key.created_at),
    expires_at === null ? 'never' : `${formatUtcTime(expires_at)}${isExpired ? ' (expired)' : ''}`,
    last_used_at === null ? 'never' : formatUtcTime(last_used_at),
    <DeleteKey key="delete" entry={key} reload={reload} />,
  ]
}

function DeleteKey(props: { readonly entry: ApiKeyEntry; readonly reload: () => void }) {
  const { entry, reload } = props
  return (
    <ConfirmAction
      button={`Delete ${entry.name}`}
      confirm={`Delete ${entry.name} now`}
      cancel="Keep the key"
      headingId={LIST_ID}
      action={async () => {
        const path = `/me/keys/${entry.id}`
        const result = await callApi<undefined>(path, 'token', { method: 'DELETE' })
        if (result.kind !== 'ok') return result
        reload()
        return null
      }}
    >
      <strong>Delete the key “{entry.name}”?</strong> It stops working at once, and live feeds that
      use it are disconnected.
    </ConfirmAction>
  )
}
