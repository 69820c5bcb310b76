/** Buttons for the previous and the next page of a list. Renders nothing for a single page. */
export function Pager(props: {
  /** Names the list: “Pages of holdings”. */
  readonly label: string
  /** Counts from 1. */
  readonly page: number
  readonly hasMore: boolean
  readonly goTo: (page: number) => void
}) {
  const { label, page, hasMore, goTo } = props
  if (page === 1 && !hasMore) return null
  return (
    <nav aria-label={label} class="pages">
      <button type="button" disabled={page === 1} onClick={() => goTo(page - 1)}>
        Previous page
      </button>
      <span>Page {page}</span>
      <button type="button" disabled={!hasMore} onClick={() => goTo(page + 1)}>
        Next page
      </button>
    </nav>
  )
}
