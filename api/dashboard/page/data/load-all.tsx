import { formatCredits } from '../amounts.ts'
import type { PaidQuery } from './use-paid-query.ts'

/** Loads all parts of a page that are not loaded. Renders nothing for fewer than two. */
export function LoadAll(props: {
  readonly queries: readonly Pick<PaidQuery<unknown>, 'price' | 'response' | 'isLoading' | 'load'>[]
  /** A noun phrase: “all of W1”. */
  readonly what: string
}) {
  const { queries, what } = props
  const missing = queries.filter(({ response, isLoading }) => response === null && !isLoading)
  if (missing.length < 2) return null
  const price = missing.reduce((sum, query) => sum + query.price, 0)
  return (
    <p>
      <button
        type="button"
        class="primary"
        onClick={() => {
          for (const { load } of missing) load()
        }}
      >
        Load {what} ({formatCredits(price)})
      </button>
    </p>
  )
}
