import { useState } from 'preact/hooks'
import type { WalletMetricsItem } from '../../../items/wallet-metrics.ts'
import { PageLayout } from '../components/page-layout.tsx'
import { ExactNumbersToggle } from '../data/formatted.tsx'
import { isAlias } from '../data/identifiers.ts'
import { PaidView } from '../data/paid-view.tsx'
import { usePaidQuery } from '../data/use-paid-query.ts'
import type { PageProps } from '../page-props.ts'
import { type HoldingsResponse, HoldingsTable } from './holdings-table.tsx'
import { PositionHistory } from './position-history.tsx'
import { WalletMetrics } from './wallet-metrics.tsx'

/** A tracked wallet: metrics, holdings, and the history of a position. */
export function WalletPage({ params }: PageProps) {
  const { alias = '' } = params
  if (isAlias(alias)) return <Wallet key={alias} alias={alias} />
  return (
    <PageLayout title="Wallet not found">
      <p>
        <code class="address">{alias}</code> is not a wallet alias. Aliases are W1, W2 and so on.{' '}
        <a href="#/wallets">See all wallets</a>
      </p>
    </PageLayout>
  )
}

/** Price of each request of this page but the swaps, in credits. */
const PRICE = 1

function Wallet({ alias }: { alias: string }) {
  const [page, setPage] = useState(1)
  const [mint, setMint] = useState<string | null>(null)
  const name = encodeURIComponent(alias)
  const metrics = usePaidQuery<WalletMetricsItem>(`/wallets/${name}/metrics`, PRICE)
  const holdings = usePaidQuery<HoldingsResponse>(
    `/wallets/holdings?alias=${name}&page=${page}`,
    PRICE,
  )
  return (
    <PageLayout title={`Wallet ${alias}`}>
      <p>
        <a href="#/wallets">All wallets</a>
      </p>
      <ExactNumbersToggle />
      <h2>Metrics</h2>
      <PaidView query={metrics} what={`the metrics of ${alias}`}>
        {({ body }) => <WalletMetrics metrics={body} />}
      </PaidView>
      <h2>Holdings</h2>
      <PaidView query={holdings} what={`the holdings of ${alias}`}>
        {({ body }) => (
          <HoldingsTable
            response={body}
            page={page}
            goToPage={setPage}
            showHistory={(selected) => {
              setMint(selected)
              document.getElementById('position')?.scrollIntoView()
            }}
          />
        )}
      </PaidView>
      <h2 id="position">Position history</h2>
      <PositionHistory
        alias={alias}
        held={holdings.response?.body.items ?? []}
        mint={mint}
        select={setMint}
      />
    </PageLayout>
  )
}
