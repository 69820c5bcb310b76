import { formatCredits } from '../amounts.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { SWAPS_PRICE, type TokenSwaps } from './use-token-swaps.ts'

/** Loads the next page of older swaps. Renders nothing if there are none. */
export function OlderSwapsButton({ swaps }: { swaps: TokenSwaps }) {
  const { hasOlder, loadOlder, isLoading, failure } = swaps
  return (
    <>
      {failure !== null && (
        <FailureNotice failure={failure} retry={loadOlder} price={SWAPS_PRICE} />
      )}
      {hasOlder && failure === null && (
        <button type="button" disabled={isLoading} onClick={loadOlder}>
          Load 200 older swaps ({formatCredits(SWAPS_PRICE)})
        </button>
      )}
    </>
  )
}
