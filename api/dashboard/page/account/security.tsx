import { formatUtcTime } from '../amounts.ts'
import { ConfirmAction } from '../components/confirm-action.tsx'
import { EmptyNotice, QueryView } from '../components/query-view.tsx'
import { ScrollTable } from '../components/scroll-table.tsx'
import type { AccountEventsResponse } from '../responses.ts'
import { signOutEverywhere } from '../sign-in.ts'
import { useApi } from '../use-api.ts'
import { accountEventText, networkText } from './event-text.ts'

/** The ten newest security events, and the button that signs out every browser. */
export function SecuritySection() {
  const query = useApi<AccountEventsResponse>('/me/events?limit=10')
  return (
    <section aria-labelledby="security">
      <h2 id="security" tabIndex={-1}>
        Security
      </h2>
      <QueryView query={query} what="recent events">
        {({ items }) =>
          items.length === 0 ? (
            <EmptyNotice>There were no events in the last 90 days.</EmptyNotice>
          ) : (
            <ScrollTable
              caption="Recent events, newest first"
              head={['Time', 'Event', 'Network']}
              rows={items.map((item) => [
                formatUtcTime(item.at),
                accountEventText(item),
                networkText(item.network),
              ])}
            />
          )
        }
      </QueryView>
      <p class="about">
        If you do not recognise a sign-in, sign out everywhere and rotate the API key.
      </p>
      <ConfirmAction
        button="Sign out everywhere"
        confirm="Sign out everywhere now"
        cancel="Stay signed in"
        headingId="security"
        action={async () => {
          const result = await signOutEverywhere()
          return result.kind === 'ok' ? 'left' : result
        }}
      >
        <strong>Sign out everywhere?</strong> This signs out every browser that is signed in with
        this wallet, including this one. The API key stays valid.
      </ConfirmAction>
    </section>
  )
}
