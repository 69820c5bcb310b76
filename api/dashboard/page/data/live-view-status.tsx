import { FailureNotice } from '../components/failure-notice.tsx'
import type { SocketState } from './feed-socket.ts'
import { ExactNumbersToggle, LocalTime } from './formatted.tsx'
import { NoticeList } from './notice-list.tsx'
import type { LiveView } from './use-live-view.ts'

/** The connection of a live view, its last update, and its notices. */
export function LiveViewStatus({ view }: { view: Omit<LiveView<unknown>, 'state'> }) {
  const { connection, updatedAt, failure, notices, reload } = view
  return (
    <>
      <div class="feed-bar">
        <p role="status">
          <strong>{CONNECTION_TEXTS[connection.kind]}</strong>
        </p>
        <p>
          Last update: <LocalTime unix={updatedAt} />
        </p>
        {connection.kind === 'ended' && (
          <button type="button" onClick={reload}>
            Reconnect
          </button>
        )}
        <ExactNumbersToggle />
      </div>
      <NoticeList
        notices={connection.kind === 'ended' ? [connection.notice, ...notices] : notices}
      />
      {failure !== null && <FailureNotice failure={failure} retry={reload} />}
    </>
  )
}

const CONNECTION_TEXTS: Readonly<Record<SocketState['kind'], string>> = {
  connecting: 'Connecting… (updates every 10 s)',
  live: 'Live',
  reconnecting: 'Reconnecting… (updates every 10 s)',
  ended: 'Not live (updates every 10 s)',
}
