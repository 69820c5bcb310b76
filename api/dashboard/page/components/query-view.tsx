import type { ComponentChildren } from 'preact'
import type { ApiQuery } from '../use-api.ts'
import { FailureNotice } from './failure-notice.tsx'

/** Says that something is loading. `what` is a noun phrase: “your account”. */
export function LoadingNotice({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what}…
    </p>
  )
}

/** Stands in place of an empty list. It says what the list will contain. */
export function EmptyNotice({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{children}</p>
    </div>
  )
}

/** Shows a query in each of its states. `children` renders the response. */
export function QueryView<Body>(props: {
  readonly query: ApiQuery<Body>
  /** A noun phrase: “your top-ups”. */
  readonly what: string
  readonly children: (body: Body) => ComponentChildren
}) {
  const { query, what } = props
  if (query.state === 'loading') return <LoadingNotice what={what} />
  if (query.state === 'failed')
    return <FailureNotice failure={query.failure} retry={query.reload} />
  return (
    <>
      {query.failure !== null && <FailureNotice failure={query.failure} retry={query.reload} />}
      {props.children(query.body)}
    </>
  )
}
