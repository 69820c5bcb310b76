import type { ComponentChildren } from 'preact'
import { formatCredits } from '../amounts.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { LoadingNotice } from '../components/query-view.tsx'
import { LocalTime } from './formatted.tsx'
import { usePreferences } from './preferences.ts'
import type { CachedResponse } from './response-cache.ts'
import type { PaidQuery } from './use-paid-query.ts'

/**
 * Shows a paid request in each of its states: not sent, loading, failed, loaded.
 * `children` renders the response. Its age and the price of a refresh are shown below.
 */
export function PaidView<Body>(props: {
  readonly query: PaidQuery<Body>
  /** A noun phrase: “the holdings of W1”. */
  readonly what: string
  readonly children: (response: CachedResponse<Body>) => ComponentChildren
}) {
  const { query, what } = props
  const { response, failure, isLoading, price, load } = query
  return (
    <>
      {failure !== null && <FailureNotice failure={failure} retry={load} price={price} />}
      {isLoading && <LoadingNotice what={what} />}
      {response === null ? (
        !isLoading && failure === null && <LoadButton what={what} price={price} load={load} />
      ) : (
        <>
          {props.children(response)}
          <p class="as-of">
            Loaded <LocalTime unix={Math.floor(response.receivedAt)} />
            {response.creditsRemaining !== null &&
              `. Available after this request: ${formatCredits(response.creditsRemaining)}`}
            .{' '}
            <button type="button" class="small" disabled={isLoading} onClick={load}>
              Refresh ({formatCredits(price)})
            </button>
          </p>
        </>
      )}
    </>
  )
}

function LoadButton({ what, price, load }: { what: string; price: number; load: () => void }) {
  const [{ loadsOnOpen }, choose] = usePreferences()
  return (
    <div class="offer">
      <button type="button" class="primary" onClick={load}>
        Load {what} ({formatCredits(price)})
      </button>
      <label class="choice">
        <input
          type="checkbox"
          checked={loadsOnOpen}
          onChange={(event) => choose({ loadsOnOpen: event.currentTarget.checked })}
        />
        Load pages automatically when I open them (1 to 9 credits per page)
      </label>
    </div>
  )
}
