import { useState } from 'preact/hooks'
import { formatCredits, formatUtcTime, groupThousands } from '../amounts.ts'
import { PageLayout } from '../components/page-layout.tsx'
import { EmptyNotice, QueryView } from '../components/query-view.tsx'
import { ScrollTable } from '../components/scroll-table.tsx'
import type {
  ProPaymentsResponse,
  TopUpsResponse,
  UsageInterval,
  UsageResponse,
} from '../responses.ts'
import { useApi } from '../use-api.ts'

/** Credits used, deposits that were credited, and payments for Pro. */
export function UsagePage() {
  return (
    <PageLayout title="Usage">
      <CreditsUsed />
      <TopUpList />
      <ProPaymentList />
    </PageLayout>
  )
}

interface UsageView {
  readonly by: UsageInterval
  /** How many periods are listed at most. */
  readonly limit: number
  readonly label: string
}

const BY_DAY: UsageView = { by: 'day', limit: 30, label: 'Last 30 days, by day' }
const BY_HOUR: UsageView = { by: 'hour', limit: 48, label: 'Last 48 hours, by hour' }

function CreditsUsed() {
  const [view, setView] = useState(BY_DAY)
  const query = useApi<UsageResponse>(`/me/usage?by=${view.by}&limit=${view.limit}`)
  return (
    <section aria-labelledby="used">
      <h2 id="used">Credits used</h2>
      <fieldset>
        <legend>Period</legend>
        <div class="choices">
          {[BY_DAY, BY_HOUR].map((one) => (
            <label class="choice" key={one.by}>
              <input type="radio" name="by" checked={one === view} onChange={() => setView(one)} />
              {one.label}
            </label>
          ))}
        </div>
      </fieldset>
      <QueryView query={query} what="your usage">
        {(usage) =>
          usage.items.length === 0 ? (
            <EmptyNotice>No credits were used in this period.</EmptyNotice>
          ) : (
            <UsageTable usage={usage} />
          )
        }
      </QueryView>
      <p class="about">
        The last two seconds may be missing here. The balance on your account page includes them.
      </p>
    </section>
  )
}

function UsageTable({ usage: { by, items } }: { readonly usage: UsageResponse }) {
  const total = items.reduce((sum, { credits }) => sum + credits, 0)
  const highest = Math.max(...items.map(({ credits }) => credits))
  return (
    <ScrollTable
      caption={`${formatCredits(total)} in total, by ${by} (UTC), newest first`}
      head={[by === 'day' ? 'Day' : 'Hour', 'Credits', 'Compared with the highest']}
      numericColumns={[1]}
      rows={items.map(({ starts_at, credits }) => [
        by === 'day' ? formatUtcTime(starts_at).slice(0, 10) : formatUtcTime(starts_at),
        groupThousands(credits),
        <Bar key={starts_at} value={credits} highest={highest} />,
      ])}
    />
  )
}

/** A bar whose length is a value's share of the highest. The number is shown next to it. */
function Bar({ value, highest }: { readonly value: number; readonly highest: number }) {
  const width = highest > 0 ? Math.max(0, Math.round((100 * value) / highest)) : 0
  return (
    <svg class="bar-frame" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="bar" width={width} height={10} />
    </svg>
  )
}

function TopUpList() {
  const query = useApi<TopUpsResponse>('/billing/credits/topups')
  return (
    <section aria-labelledby="top-ups">
      <h2 id="top-ups">Top-ups</h2>
      <QueryView query={query} what="your top-ups">
        {({ items }) =>
          items.length === 0 ? (
            <EmptyNotice>
              No deposit has been credited yet. <a href="#/top-up">Top up credits</a>
            </EmptyNotice>
          ) : (
            <ScrollTable
              caption="Credited deposits, newest first"
              head={['Time', 'USDT', 'Credits', 'Transaction']}
              numericColumns={[1, 2]}
              rows={items.map(({ created_at, amount_usdt, credits, tx_signature }) => [
                formatUtcTime(created_at),
                String(amount_usdt),
                groupThousands(credits),
                <Signature key={tx_signature} text={tx_signature} />,
              ])}
            />
          )
        }
      </QueryView>
    </section>
  )
}

function ProPaymentList() {
  const query = useApi<ProPaymentsResponse>('/billing/pro/payments')
  return (
    <section aria-labelledby="pro-payments">
      <h2 id="pro-payments">Payments for Pro</h2>
      <QueryView query={query} what="your payments for Pro">
        {({ items }) =>
          items.length === 0 ? (
            <EmptyNotice>
              No payment has bought Pro yet. <a href="#/pro">See the Pro plans</a>
            </EmptyNotice>
          ) : (
            <ScrollTable
              caption="Payments for Pro, newest first"
              head={['Time', 'USDT', 'Plan', 'Days', 'Pro until', 'Transaction']}
              numericColumns={[1, 3]}
              rows={items.map(
                ({ created_at, amount_usdt, plan, days, expires_at, tx_signature }) => [
                  formatUtcTime(created_at),
                  String(amount_usdt),
                  plan,
                  String(days),
                  formatUtcTime(expires_at),
                  <Signature key={tx_signature} text={tx_signature} />,
                ],
              )}
            />
          )
        }
      </QueryView>
    </section>
  )
}

function Signature({ text }: { readonly text: string }) {
  return <code title={text}>{text.slice(0, 8)}…</code>
}
