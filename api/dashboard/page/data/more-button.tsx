import { formatCredits } from '../amounts.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import type { PaidList } from './use-paid-list.ts'

/** Loads the next page of a list. Renders nothing if there is none. `what`: “200 older swaps”. */
export function MoreButton<Item>({ list, what }: { list: PaidList<Item>; what: string }) {
  const { hasMore, loadMore, isLoading, failure, first } = list
  if (failure !== null)
    return <FailureNotice failure={failure} retry={loadMore} price={first.price} />
  if (!hasMore) return null
  return (
    <button type="button" disabled={isLoading} onClick={loadMore}>
      Load {what} ({formatCredits(first.price)})
    </button>
  )
}
