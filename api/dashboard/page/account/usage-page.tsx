import { grouped, timeText } from '../amounts.ts'
import { Empty, Page, Shown, Table } from '../components.tsx'
import { useAsk } from '../use-ask.ts'

interface TopUps {
  readonly items: readonly {
    readonly tx_signature: string
    readonly amount_usdt: number
    readonly credits: number
    readonly created_at: number
  }[]
}

/** What came to the account, and what it used. */
export function UsagePage() {
  const topUps = useAsk<TopUps>('/billing/credits/topups')
  return (
    <Page title="Usage">
      <section aria-labelledby="top-ups">
        <h2 id="top-ups">Top-ups</h2>
        <Shown asked={topUps} what="your top-ups">
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
    </Page>
  )
}
