import { useId } from 'preact/hooks'

/** A field for a line of text, with its label. */
export function TextField(props: {
  readonly label: string
  readonly value: string
  readonly change: (value: string) => void
  readonly placeholder?: string
  readonly isWide?: boolean
  readonly isNumeric?: boolean
  /** Whether the browser may offer former values (default: true). */
  readonly isRemembered?: boolean
}) {
  const { label, value, change, placeholder = '' } = props
  const { isWide = false, isNumeric = false, isRemembered = true } = props
  const id = useId()
  return (
    <div class={isWide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      <input
        type="text"
        id={id}
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        autoComplete={isRemembered ? 'on' : 'off'}
        inputMode={isNumeric ? 'numeric' : 'text'}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </div>
  )
}
