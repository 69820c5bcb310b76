import { useId, useState } from 'preact/hooks'
import { type ApiFailure, callApi } from '../call-api.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { FormErrors } from '../components/form-errors.tsx'
import type { KeyUse, NewApiKeyResponse } from '../responses.ts'
import { setNewNamedKey } from '../session.ts'
import { type KeyForm, keyTerms, SCOPE_TEXTS } from './key-terms.ts'

const EMPTY: KeyForm = { name: '', scopes: ['read', 'feed'], expiresOn: '', addresses: '' }
const SCOPES = ['read', 'feed'] as const satisfies readonly KeyUse[]

/** The form that creates a named key. */
export function NewKeyForm({ onCreated }: { readonly onCreated: () => void }) {
  const [form, setForm] = useState(EMPTY)
  const [errors, setErrors] = useState<readonly string[]>([])
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const [isCreating, setIsCreating] = useState(false)
  const id = useId()
  const change = (part: Partial<KeyForm>) => setForm({ ...form, ...part })
  const create = async () => {
    const terms = keyTerms(form, Date.now() / 1000)
    setErrors(terms.errors)
    setFailure(null)
    if (isCreating || terms.errors.length > 0) return
    setIsCreating(true)
    const { body } = terms
    const result = await callApi<NewApiKeyResponse>('/me/keys', 'token', { method: 'POST', body })
    setIsCreating(false)
    if (result.kind !== 'ok') return setFailure(result)
    setNewNamedKey({ name: result.body.name, apiKey: result.body.api_key })
    setForm(EMPTY)
    onCreated()
  }
  return (
    <section aria-labelledby="new-key">
      <h2 id="new-key">New key</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <div class="field">
          <label for={`${id}-name`}>Name</label>
          <input
            id={`${id}-name`}
            type="text"
            autoComplete="off"
            value={form.name}
            onInput={(event) => change({ name: event.currentTarget.value })}
          />
        </div>
        <fieldset>
          <legend>Use</legend>
          <div class="choices">
            {SCOPES.map((scope) => (
              <label class="choice" key={scope}>
                <input
                  type="checkbox"
                  checked={form.scopes.includes(scope)}
                  onChange={(event) => {
                    const isChosen = event.currentTarget.checked
                    change({
                      scopes: SCOPES.filter((one) =>
                        one === scope ? isChosen : form.scopes.includes(one),
                      ),
                    })
                  }}
                />
                {SCOPE_TEXTS[scope]}
              </label>
            ))}
          </div>
        </fieldset>
        <div class="field">
          <label for={`${id}-end`}>Last day (UTC), empty for no end</label>
          <input
            id={`${id}-end`}
            type="date"
            value={form.expiresOn}
            onInput={(event) => change({ expiresOn: event.currentTarget.value })}
          />
        </div>
        <div class="field wide">
          <label for={`${id}-addresses`}>Allowed addresses, empty for all</label>
          <input
            id={`${id}-addresses`}
            type="text"
            autoComplete="off"
            spellcheck={false}
            placeholder="192.0.2.17, 2001:db8::/32"
            value={form.addresses}
            onInput={(event) => change({ addresses: event.currentTarget.value })}
          />
        </div>
        <button type="submit" class="primary" disabled={isCreating}>
          Create key
        </button>
        <FormErrors errors={errors} />
      </form>
      {failure !== null && <FailureNotice failure={failure} />}
    </section>
  )
}
