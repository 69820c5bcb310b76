import { useId, useState } from 'preact/hooks'
import { creditsText } from '../amounts.ts'
import { useApiKey } from '../session.ts'

/** Asks for the API key that a product page needs; it is held in memory alone. */
export function KeyNeeded({ what, price }: { what: string; price: number }) {
  const [, setKey] = useApiKey()
  const [text, setText] = useState('')
  const [isWrong, setIsWrong] = useState(false)
  const id = useId()
  const key = text.trim()
  return (
    <section class="empty" aria-label="API key needed">
      <p>
        Your API key is needed for {what}. Nothing is asked for, and nothing costs credits, before
        you say so: {creditsText(price)} each time.
      </p>
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (/^tw_[1-9A-HJ-NP-Za-km-z]{20,}$/.test(key)) setKey(key)
          else setIsWrong(true)
        }}
      >
        <label for={id}>API key</label>
        <input
          id={id}
          type="password"
          autoComplete="off"
          spellcheck={false}
          value={text}
          aria-invalid={isWrong}
          aria-describedby={`${id}-about`}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setIsWrong(false)
          }}
        />
        <button type="submit" class="primary">
          Use this key
        </button>
      </form>
      <p id={`${id}-about`} class="about" role={isWrong ? 'alert' : undefined}>
        {isWrong
          ? 'That is no API key: one starts with “tw_”. '
          : 'It is kept in the memory of this page alone and is gone when you reload. '}
        No key at hand? <a href="#/account">Make a new one on the account page</a>.
      </p>
    </section>
  )
}
