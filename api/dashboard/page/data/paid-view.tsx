import type { ComponentChildren } from 'preact'
import { formatCredits } from '../amounts.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { LoadingNotice } from '../components/query-view.tsx'
import { useApiKey } from '../session.ts'
import { ApiKeyForm } from './api-key-form.tsx'
import { LocalTime } from './formatted.tsx'
import { usePreferences } from './preferences.ts'
import type { CachedResponse } from './response-cache.ts'
import type { PaidQuery } from './use-paid-query.ts'

/**
 * Shows a paid request in each of its states: no API key, not sent, loading, failed, loaded.
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
  const [key] = useApiKey()
  const isKeyRefused = failure?.kind === 'refused' && failure.status === 401
  if (key === null && response === null) return <ApiKeyForm what={what} price={price} />
  return (
    <>
      {failure !== null && <FailureNotice failure={failure} retry={load} price={price} />}
      {isKeyRefused && <ApiKeyForm what={what} price={price} />}
      {isLoading && <LoadingNotice what={what} />}
      {response === null ? (
        !isLoading && failure === null && <LoadButton what={what} price={price} load={load} />
      ) : (
        <>
          {props.children(response)}
          <p class="as-of">
            Loaded <LocalTime unix={Math.floor(response.receivedAt)} />
            {response.creditsRemaining !== null &&
              `. Balance after this request: ${formatCredits(response.creditsRemaining)}`}
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

/**
 * Wraps a page with several paid parts. Without an API key it asks for one, once for all parts.
 * `price` is the price of one part in credits.
 */
export function RequireApiKey(props: {
  /** A noun phrase that names the parts. */
  readonly what: string
  readonly price: number
  readonly children: ComponentChildren
}) {
  const [key] = useApiKey()
  return key === null ? <ApiKeyForm what={props.what} price={props.price} /> : props.children
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
        Load pages automatically when I open them (1 to 6 credits per page)
      </label>
    </div>
  )
}
