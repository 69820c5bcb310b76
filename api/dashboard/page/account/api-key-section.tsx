import { formatUtcTime } from '../amounts.ts'
import { ConfirmAction } from '../components/confirm-action.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import type { AccountResponse } from '../responses.ts'
import { useUnsavedApiKey } from '../session.ts'
import { replaceApiKey } from './account.ts'

/** The API key: a new one in full until the customer has saved it, else its end, and rotation. */
export function ApiKeySection({ account }: { readonly account: AccountResponse }) {
  const [unsavedKey, confirmSaved] = useUnsavedApiKey()
  const { api_key_last4, api_key_created_at, api_key_rotated_at, last_used_at } = account
  return (
    <section aria-labelledby={HEADING_ID}>
      <h2 id={HEADING_ID} tabIndex={-1}>
        API key
      </h2>
      {unsavedKey === null ? (
        <p>
          Your key ends in <code>{api_key_last4}</code>. The full key was shown once and cannot be
          shown again. If you have lost it, rotate it to get a new one.
        </p>
      ) : (
        <NewApiKey
          what="your API key"
          apiKey={unsavedKey}
          confirmSaved={confirmSaved}
          headingId={HEADING_ID}
        />
      )}
      <dl class="figures">
        <div>
          <dt>Created</dt>
          <dd>{formatUtcTime(api_key_created_at)}</dd>
        </div>
        <div>
          <dt>Last rotated</dt>
          <dd>{api_key_rotated_at === null ? 'never' : formatUtcTime(api_key_rotated_at)}</dd>
        </div>
        <div>
          <dt>Last used</dt>
          <dd>{last_used_at === null ? 'never' : formatUtcTime(last_used_at)}</dd>
        </div>
      </dl>
      <ConfirmAction
        button="Rotate API key"
        confirm="Rotate API key now"
        cancel="Keep the current key"
        headingId={HEADING_ID}
        action={async () => {
          const result = await replaceApiKey()
          return result.kind === 'ok' ? null : result
        }}
      >
        <strong>Rotate the API key?</strong> You get a new key. The current key stops working at
        once, and live feeds that use it are disconnected. Your other <a href="#/keys">keys</a> stay
        as they are.
      </ConfirmAction>
    </section>
  )
}

const HEADING_ID = 'api-key'

/** A new key or secret in full, until the customer confirms to have saved it. */
export function NewApiKey(props: {
  /** A noun phrase: “your API key”. */
  readonly what: string
  readonly apiKey: string
  /** Its kind, on the buttons. */
  readonly kind?: 'API key' | 'secret'
  readonly confirmSaved: () => void
  /** Id of the heading that takes the focus then. */
  readonly headingId: string
}) {
  const { what, apiKey, kind = 'API key', confirmSaved, headingId } = props
  return (
    <div class="card important" role="status">
      <p>
        <strong>This is {what}. It is shown only once.</strong> Save it now, in a place that only
        your programs can read.
      </p>
      <p>
        <code class="secret">{apiKey}</code>
      </p>
      <p class="actions">
        <CopyButton text={apiKey} what={kind} />
        <button
          type="button"
          class="primary"
          onClick={() => {
            confirmSaved()
            document.getElementById(headingId)?.focus()
          }}
        >
          I have saved the {kind === 'secret' ? kind : 'key'}
        </button>
      </p>
    </div>
  )
}
