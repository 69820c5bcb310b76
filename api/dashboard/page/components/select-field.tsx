import { useId } from 'preact/hooks'

/** A menu with its label. `options` are the values and their texts, in order. */
export function SelectField<Value extends string>(props: {
  readonly label: string
  readonly value: Value
  readonly options: Readonly<Record<Value, string>>
  readonly choose: (value: Value) => void
}) {
  const { label, value, options, choose } = props
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        // The options are the keys of a record of `Value`.
        onChange={({ currentTarget }) => choose(currentTarget.value as Value)}
      >
        {Object.entries<string>(options).map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}
