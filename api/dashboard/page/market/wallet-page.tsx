import { useCallback, useState } from 'preact/hooks'
import type { WalletMetricsItem } from '../../../items/wallet-metrics.ts'
import { PageLayout } from '../components/page-layout.tsx'
import { FavouriteButton } from '../data/favourite-button.tsx'
import { ExactNumbersToggle } from '../data/formatted.tsx'
import { isAlias } from '../data/identifiers.ts'
import { LoadAll } from '../data/load-all.tsx'
import { PaidView } from '../data/paid-view.tsx'
import { usePaidQuery } from '../data/use-paid-query.ts'
import type { PageProps } from '../page-props.ts'
import { MODES_ABOUT } from './book-mode.tsx'
import { PositionHistory } from './position-history.tsx'
import { PositionsSection, usePositions } from './positions.tsx'
import { ProfitSection, useProfitQuery } from './profit-chart.tsx'
import { WalletMetrics } from './wallet-metrics.tsx'
import { useWalletTrades, WalletTrades } from './wallet-trades.tsx'

/** A tracked wallet: profit over time, positions, trades and metrics. */
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
  const [mint, setMint] = useState<string | null>(null)
  const profit = useProfitQuery(alias, PRICE)
  const positions = usePositions(alias, PRICE)
  const trades = useWalletTrades(alias, PRICE)
  const metrics = usePaidQuery<WalletMetricsItem>(
    `/wallets/${encodeURIComponent(alias)}/metrics`,
    PRICE,
  )
  const showHistory = useCallback((selected: string) => {
    setMint(selected)
    document.getElementById('position')?.scrollIntoView()
  }, [])
  return (
    <PageLayout
      title={`Wallet ${alias}`}
      actions={<FavouriteButton favourite={{ kind: 'wallet', id: alias }} />}
    >
      <p>
        <a href="#/wallets">All wallets</a>
      </p>
      <ExactNumbersToggle />
      <p class="about">{MODES_ABOUT}</p>
      <LoadAll
        queries={[profit.query, positions.list.first, trades.first, metrics]}
        what={`all of ${alias}`}
      />
      <h2>Profit over time</h2>
      <ProfitSection alias={alias} profit={profit} />
      <h2>Positions</h2>
      <PositionsSection alias={alias} positions={positions} showHistory={showHistory} />
      <h2 id="position">Position history</h2>
      <PositionHistory
        alias={alias}
        held={positions.list.items.map(({ token }) => token)}
        mint={mint}
        select={setMint}
      />
      <h2>Trades</h2>
      <WalletTrades alias={alias} list={trades} />
      <h2>Metrics</h2>
      <PaidView query={metrics} what={`the metrics of ${alias}`}>
        {({ body }) => <WalletMetrics metrics={body} />}
      </PaidView>
    </PageLayout>
  )
}
