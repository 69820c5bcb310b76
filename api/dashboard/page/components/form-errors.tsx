/** What is wrong with the values of a form; nothing where nothing is. */
export function FormErrors({ errors }: { readonly errors: readonly string[] }) {
  if (errors.length === 0) return null
  return (
    <ul role="alert" class="errors">
      {errors.map((error) => (
        <li key={error}>{error}</li>
      ))}
    </ul>
  )
}
