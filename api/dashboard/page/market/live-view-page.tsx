import type { ComponentChildren } from 'preact'
import type { ApiFailure } from '../call-api.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { PageLayout } from '../components/page-layout.tsx'
import { EmptyNotice, LoadingNotice } from '../components/query-view.tsx'
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
        <NotLoaded failure={failure} reload={reload} />
      ) : (
        <LoadingNotice what={what} />
      )}
    </PageLayout>
  )
}

/** Why there is nothing to show. A wallet without Pro made no mistake, so that is no failure. */
function NotLoaded({ failure, reload }: { failure: ApiFailure; reload: () => void }) {
  if (failure.kind !== 'refused' || failure.code !== 'pro_required')
    return <FailureNotice failure={failure} retry={reload} />
  return (
    <EmptyNotice>
      This page is part of Pro, which your wallet does not have at present. Your API key and your
      credits work without it. <a href="#/pro">See what Pro costs</a>
    </EmptyNotice>
  )
}
