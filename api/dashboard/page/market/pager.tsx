import { formatCredits } from '../amounts.ts'

/** Buttons for the previous and the next page of a list. Renders nothing for a single page. */
export function Pager(props: {
  /** Names the list: “Pages of wallets”. */
  readonly label: string
  /** Counts from 1. */
  readonly page: number
  readonly hasMore: boolean
  readonly goTo: (page: number) => void
  /** Credits that a page costs which was not loaded before. */
  readonly price: number
}) {
  const { label, page, hasMore, goTo, price } = props
  if (page === 1 && !hasMore) return null
  const cost = ` (${formatCredits(price)})`
  return (
    <nav aria-label={label} class="pages">
      <button type="button" disabled={page === 1} onClick={() => goTo(page - 1)}>
        Previous page{cost}
      </button>
      <span>Page {page}</span>
      <button type="button" disabled={!hasMore} onClick={() => goTo(page + 1)}>
        Next page{cost}
      </button>
    </nav>
  )
}
