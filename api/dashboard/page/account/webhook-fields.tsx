import { useState } from 'preact/hooks'
import type { ApiFailure } from '../call-api.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { FormErrors } from '../components/form-errors.tsx'
import { SelectField } from '../components/select-field.tsx'
import { TextField } from '../components/text-field.tsx'
import { type ChosenTerms, type WebhookForm, webhookTerms } from './webhook-terms.ts'
import { CHANNEL_TEXTS } from './webhook-text.ts'

/** The form that creates a webhook or changes one. It is empty again once one was created. */
export function WebhookFields(props: {
  readonly initial: WebhookForm
  readonly isNew: boolean
  /** Resolves with the failure, or with null on success. */
  readonly send: (terms: ChosenTerms) => Promise<ApiFailure | null>
}) {
  const { initial, isNew, send } = props
  const [form, setForm] = useState(initial)
  const [errors, setErrors] = useState<readonly string[]>([])
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const [isSending, setIsSending] = useState(false)
  const [isSaved, setIsSaved] = useState(false)
  const change = (part: Partial<WebhookForm>) => {
    setIsSaved(false)
    setForm({ ...form, ...part })
  }
  const submit = async () => {
    const terms = webhookTerms(form)
    setErrors(terms.errors)
    setFailure(null)
    if (isSending || terms.errors.length > 0) return
    setIsSending(true)
    const failed = await send(terms.body)
    setIsSending(false)
    setFailure(failed)
    if (failed !== null) return
    if (isNew) setForm(initial)
    else setIsSaved(true)
  }
  const { url, channel, wallets, mints } = form
  const price = channel === 'trades' ? ' (1 credit per trade)' : ''
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextField
          label="URL"
          value={url}
          placeholder="https://bot.example/trades"
          change={(text) => change({ url: text })}
          isWide
          isRemembered={false}
        />
        {isNew && (
          <>
            <SelectField
              label="Messages"
              value={channel}
              options={CHANNEL_TEXTS}
              choose={(chosen) => change({ channel: chosen })}
            />
            {channel !== 'trades' && (
              <p class="about">
                Part of <a href="#/pro">Pro</a>, without a price for each message.
              </p>
            )}
          </>
        )}
        {channel === 'trades' && (
          <TextField
            label="Wallets"
            value={wallets}
            placeholder="all, or W1, W12"
            change={(text) => change({ wallets: text })}
            isWide
            isRemembered={false}
          />
        )}
        <TextField
          label="Tokens"
          value={mints}
          placeholder="all, or token addresses"
          change={(text) => change({ mints: text })}
          isWide
          isRemembered={false}
        />
        <p class="actions">
          <button type="submit" class={isNew ? 'primary' : ''} disabled={isSending}>
            {isNew ? `Create webhook${price}` : 'Save'}
          </button>
          <span class="about" role="status">
            {isSaved && 'Saved. It is in force within two seconds.'}
          </span>
        </p>
        <FormErrors errors={errors} />
      </form>
      {failure !== null && <FailureNotice failure={failure} />}
    </>
  )
}
