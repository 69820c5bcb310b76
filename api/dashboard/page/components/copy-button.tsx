import { useState } from 'preact/hooks'

/** Copies a text to the clipboard and says whether it worked. `what` is a noun: “API key”. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [outcome, setOutcome] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setOutcome('Copied.')
    } catch {
      setOutcome('Copying failed. Select the text and copy it by hand.')
    }
  }
  return (
    <>
      <button type="button" class="small" onClick={copy}>
        Copy {what}
      </button>
      <span class="about" role="status">
        {outcome}
      </span>
    </>
  )
}
