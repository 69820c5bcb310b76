import { useState } from 'preact/hooks'
import { creditsText, grouped, timeText } from '../amounts.ts'
import type { TopUps, Usage, UsagePeriod } from '../answers.ts'
import { Empty, Page, Shown, Table } from '../components.tsx'
import { useAsk } from '../use-ask.ts'

/** What the account used, and what came to it. */
export function UsagePage() {
  return (
    <Page title="Usage">
      <Used />
      <Credited />
    </Page>
  )
}

/** How far back, and by what. */
const VIEWS: readonly {
  readonly by: UsagePeriod
  readonly limit: number
  readonly text: string
}[] = [
  { by: 'day', limit: 30, text: 'Days of the last month' },
  { by: 'hour', limit: 48, text: 'Hours of the last two days' },
]

function Used() {
  const [view, setView] = useState(VIEWS[0])
  const asked = useAsk<Usage>(view ? `/me/usage?by=${view.by}&limit=${view.limit}` : null)
  return (
    <section aria-labelledby="used">
      <h2 id="used">Credits used</h2>
      <fieldset>
        <legend>Shown by</legend>
        <div class="choices">
          {VIEWS.map((one) => (
            <label class="choice" key={one.by}>
              <input type="radio" name="by" checked={one === view} onChange={() => setView(one)} />
              {one.text}
            </label>
          ))}
        </div>
      </fieldset>
      <Shown asked={asked} what="what was used">
        {({ by, items }) =>
          items.length === 0 ? (
            <Empty>
              <p>Nothing was used in this time.</p>
            </Empty>
          ) : (
            <Table
              caption={`${creditsText(items.reduce((sum, { credits }) => sum + credits, 0))} in all, newest first, by ${by} of UTC`}
              head={['From', 'Credits', 'Share of the most']}
              figures={[1]}
              rows={items.map(({ starts_at, credits }) => [
                by === 'day' ? timeText(starts_at).slice(0, 10) : timeText(starts_at),
                grouped(credits),
                <Bar
                  key={starts_at}
                  value={credits}
                  most={Math.max(...items.map((one) => one.credits))}
                />,
              ])}
            />
          )
        }
      </Shown>
      <p class="about">
        The last second or two may be missing here; the balance on your account has them.
      </p>
    </section>
  )
}

/** A figure as a length beside it; it says nothing that the figure does not. */
function Bar({ value, most }: { readonly value: number; readonly most: number }) {
  const width = most > 0 ? Math.max(0, Math.round((100 * value) / most)) : 0
  return (
    <svg class="bar-frame" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="bar" width={width} height={10} />
    </svg>
  )
}

function Credited() {
  const asked = useAsk<TopUps>('/billing/credits/topups')
  return (
    <section aria-labelledby="top-ups">
      <h2 id="top-ups">Top-ups</h2>
      <Shown asked={asked} what="your top-ups">
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              <p>
                Nothing was credited yet. <a href="#/top-up">Top up credits</a>
              </p>
            </Empty>
          ) : (
            <Table
              caption="Deposits that were credited, newest first"
              head={['When', 'USDT', 'Credits', 'Transaction']}
              figures={[1, 2]}
              rows={items.map(({ created_at, amount_usdt, credits, tx_signature }) => [
                timeText(created_at),
                String(amount_usdt),
                grouped(credits),
                <code key={tx_signature} title={tx_signature}>
                  {tx_signature.slice(0, 8)}…
                </code>,
              ])}
            />
          )
        }
      </Shown>
    </section>
  )
}
