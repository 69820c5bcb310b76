import { useState } from 'preact/hooks'
import { formatUtcTime } from '../amounts.ts'
import { callApi } from '../call-api.ts'
import { ConfirmAction } from '../components/confirm-action.tsx'
import { PageLayout } from '../components/page-layout.tsx'
import { EmptyNotice, QueryView } from '../components/query-view.tsx'
import { ScrollTable } from '../components/scroll-table.tsx'
import type { AccountEventsResponse, SessionEntry, SessionsResponse } from '../responses.ts'
import { signOutEverywhere } from '../sign-in.ts'
import { useApi } from '../use-api.ts'
import { accountEventText, networkText } from './event-text.ts'

/** Where the wallet is signed in, and what happened to the account. */
export function SecurityPage() {
  return (
    <PageLayout title="Security">
      <Sessions />
      <Events />
    </PageLayout>
  )
}

function Sessions() {
  const query = useApi<SessionsResponse>('/me/sessions')
  return (
    <section aria-labelledby={SESSIONS_ID}>
      <h2 id={SESSIONS_ID} tabIndex={-1}>
        Sessions
      </h2>
      <QueryView query={query} what="your sessions">
        {({ items }) => (
          <ScrollTable
            caption="Valid sign-ins of this wallet, newest first"
            head={['Signed in', 'Last used', 'Network', 'Ends', 'Action']}
            rows={items.map((item) => [
              formatUtcTime(item.created_at),
              formatUtcTime(item.last_used_at),
              networkText(item.network),
              formatUtcTime(item.expires_at),
              item.is_current ? (
                'This session'
              ) : (
                <EndSession key={item.id} session={item} reload={query.reload} />
              ),
            ])}
          />
        )}
      </QueryView>
      <p class="about">
        A sign-in may take ten seconds to appear. If you do not recognise one, end it, and rotate
        the <a href="#/account">API key</a>.
      </p>
      <ConfirmAction
        button="Sign out everywhere"
        confirm="Sign out everywhere now"
        cancel="Stay signed in"
        headingId={SESSIONS_ID}
        action={async () => {
          const result = await signOutEverywhere()
          return result.kind === 'ok' ? 'left' : result
        }}
      >
        <strong>Sign out everywhere?</strong> This ends every session of this wallet, including this
        one. API keys stay valid.
      </ConfirmAction>
    </section>
  )
}

function EndSession(props: { readonly session: SessionEntry; readonly reload: () => void }) {
  const { session, reload } = props
  return (
    <ConfirmAction
      button="End session"
      confirm="End session now"
      cancel="Keep it"
      headingId={SESSIONS_ID}
      action={async () => {
        const path = `/me/sessions/${session.id}`
        const result = await callApi<undefined>(path, 'token', { method: 'DELETE' })
        if (result.kind !== 'ok') return result
        reload()
        return null
      }}
    >
      <strong>End this session?</strong> The browser that uses it has to sign in again.
    </ConfirmAction>
  )
}

const SESSIONS_ID = 'sessions'

/** The security events of 90 days, in pages. */
function Events() {
  /** Cursors of the pages before and of the current one; null is the first page. */
  const [cursors, setCursors] = useState<readonly (string | null)[]>([null])
  const cursor = cursors.at(-1) ?? null
  const after = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
  const query = useApi<AccountEventsResponse>(`/me/events?limit=25${after}`)
  return (
    <section aria-labelledby="events">
      <h2 id="events">Events</h2>
      <QueryView query={query} what="recent events">
        {({ items, next_cursor }) =>
          items.length === 0 ? (
            <EmptyNotice>There were no events in the last 90 days.</EmptyNotice>
          ) : (
            <>
              <ScrollTable
                caption="Recent events, newest first"
                head={['Time', 'Event', 'Network']}
                rows={items.map((item) => [
                  formatUtcTime(item.at),
                  accountEventText(item),
                  networkText(item.network),
                ])}
              />
              <p class="actions">
                {cursors.length > 1 && (
                  <button type="button" onClick={() => setCursors(cursors.slice(0, -1))}>
                    Newer events
                  </button>
                )}
                {next_cursor !== null && (
                  <button type="button" onClick={() => setCursors([...cursors, next_cursor])}>
                    Older events
                  </button>
                )}
              </p>
            </>
          )
        }
      </QueryView>
    </section>
  )
}
