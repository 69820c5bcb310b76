import type { ComponentChildren } from 'preact'
import { FailureNotice } from '../components/failure-notice.tsx'
import { PageLayout } from '../components/page-layout.tsx'
import { LoadingNotice } from '../components/query-view.tsx'
import { LiveViewStatus } from '../data/live-view-status.tsx'
import type { LiveView } from '../data/use-live-view.ts'

/** A Pro page in each of its states. `children` renders the state once it is loaded. */
export function LiveViewPage<State>(props: {
  readonly title: string
  readonly about: string
  /** A noun phrase: “the signals”. */
  readonly what: string
  readonly view: LiveView<State>
  readonly children: (state: State) => ComponentChildren
}) {
  const { title, about, what, view } = props
  const { state, failure, reload } = view
  return (
    <PageLayout title={title} about={about}>
      {state !== null ? (
        <>
          <LiveViewStatus view={view} />
          {props.children(state)}
        </>
      ) : failure !== null ? (
        <FailureNotice failure={failure} retry={reload} />
      ) : (
        <LoadingNotice what={what} />
      )}
    </PageLayout>
  )
}
