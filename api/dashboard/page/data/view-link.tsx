import { Failure } from '../components.tsx'
import { FullFigures, Time } from './figure-text.tsx'
import { Notices } from './notices.tsx'
import type { View } from './use-view.ts'

/** How fresh a subscriber's view is, and what to do where it is not. */
export function ViewLink({
  view,
}: {
  view: Pick<View<unknown>, 'link' | 'heardAt' | 'failure' | 'notices' | 'reload'>
}) {
  const { link, heardAt, failure, notices, reload } = view
  return (
    <>
      <div class="feed-bar">
        <p role="status">
          <strong>{link.kind === 'live' ? 'Live' : LINKS[link.kind]}</strong>
        </p>
        <p>
          Last change heard: <Time unix={heardAt} />
        </p>
        {link.kind === 'ended' && (
          <button type="button" onClick={reload}>
            Go on live here
          </button>
        )}
        <FullFigures />
      </div>
      <Notices notices={link.kind === 'ended' ? [link.why, ...notices] : notices} />
      {failure !== null && <Failure failure={failure} again={reload} />}
    </>
  )
}

const LINKS = {
  connecting: 'Connecting; meanwhile read again every 10 s',
  cut: 'The connection was cut; it comes back by itself, meanwhile read again every 10 s',
  ended: 'No live changes; read again every 10 s',
}
