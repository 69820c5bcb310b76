import { creditsText } from '../amounts.ts'
import { Failure } from '../components.tsx'
import { SWAPS_PRICE, type Swaps } from './use-swaps.ts'

/** Below a token's swaps: loads the next older ones, and says why it could not; nothing where there are none. */
export function OlderSwaps({ swaps }: { swaps: Swaps }) {
  const { hasOlder, older, isLoading, failure } = swaps
  return (
    <>
      {failure !== null && <Failure failure={failure} again={older} price={SWAPS_PRICE} />}
      {hasOlder && failure === null && (
        <button type="button" disabled={isLoading} onClick={older}>
          200 older swaps ({creditsText(SWAPS_PRICE)})
        </button>
      )}
    </>
  )
}
