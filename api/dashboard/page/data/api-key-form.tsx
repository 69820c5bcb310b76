import { useId, useState } from 'preact/hooks'
import { formatCredits } from '../amounts.ts'
import { useApiKey } from '../session.ts'

/** Asks for the API key of product requests. The key is kept in memory only. */
export function ApiKeyForm({ what, price }: { what: string; price: number }) {
  const [, setKey] = useApiKey()
  const [text, setText] = useState('')
  const [isInvalid, setIsInvalid] = useState(false)
  const id = useId()
  const key = text.trim()
  return (
    <section class="empty" aria-label="API key needed">
      <p>
        Enter your API key to load {what}. A request costs {formatCredits(price)}. Nothing is
        charged before you load something.
      </p>
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (/^tw_[1-9A-HJ-NP-Za-km-z]{20,}$/.test(key)) setKey(key)
          else setIsInvalid(true)
        }}
      >
        <label for={id}>API key</label>
        <input
          id={id}
          type="password"
          autoComplete="off"
          spellcheck={false}
          value={text}
          aria-invalid={isInvalid}
          aria-describedby={`${id}-about`}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setIsInvalid(false)
          }}
        />
        <button type="submit" class="primary">
          Use this key
        </button>
      </form>
      <p id={`${id}-about`} class="about" role={isInvalid ? 'alert' : undefined}>
        {isInvalid
          ? 'This is not an API key. API keys start with “tw_”. '
          : 'The key is kept in the memory of this page only, until you reload it. '}
        If you have no key, <a href="#/account">get one on the account page</a>.
      </p>
    </section>
  )
}
