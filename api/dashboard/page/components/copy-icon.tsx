import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

/** A small button that copies a text to the clipboard. `what` is a noun: “address of Bonk”. */
export function CopyIcon({ text, what }: { readonly text: string; readonly what: string }) {
  const [outcome, setOutcome] = useState<'idle' | 'copied' | 'failed'>('idle')
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setOutcome('copied'),
      () => setOutcome('failed'),
    )
  const label = `${outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'Cannot copy' : 'Copy'} ${what}`
  return (
    <button type="button" class="bare" title={label} aria-label={label} onClick={() => void copy()}>
      <Icon name={outcome === 'copied' ? 'check' : 'copy'} />
    </button>
  )
}
