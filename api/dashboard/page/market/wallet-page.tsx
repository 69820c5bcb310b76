import { useState } from 'preact/hooks'
import type { HoldingItem } from '../../../items/holding.ts'
import type { WalletMetricsItem } from '../../../items/wallet-metrics.ts'
import { Page } from '../components.tsx'
import { FullFigures } from '../data/figure-text.tsx'
import { isAlias } from '../data/names.ts'
import { PaidView, usePaid, WithKey } from '../data/paid.tsx'
import type { PageProps } from '../routes.ts'
import { Holdings, type HoldingsAnswer } from './holdings.tsx'
import { PositionHistory } from './position-history.tsx'
import { WalletMetrics } from './wallet-metrics.tsx'

/** One tracked wallet: its metrics, what it holds, and how a position came to be. */
export function WalletPage({ params }: PageProps) {
  const { alias = '' } = params
  if (isAlias(alias)) return <Wallet key={alias} alias={alias} />
  return (
    <Page title="No such wallet">
      <p>
        <code class="address">{alias}</code> is no alias of a wallet: they are W1, W2 and so on.{' '}
        <a href="#/wallets">All wallets</a>
      </p>
    </Page>
  )
}

function Wallet({ alias }: { alias: string }) {
  const [page, setPage] = useState(1)
  const [mint, setMint] = useState<string | null>(null)
  const name = encodeURIComponent(alias)
  const metrics = usePaid<WalletMetricsItem>(`/wallets/${name}/metrics`, 1)
  const holdings = usePaid<HoldingsAnswer>(`/wallets/holdings?alias=${name}&page=${page}`, 1)
  const held: readonly HoldingItem[] = holdings.answer?.body.items ?? []
  return (
    <Page title={`Wallet ${alias}`}>
      <p>
        <a href="#/wallets">All wallets</a>
      </p>
      <WithKey what={`the metrics and holdings of ${alias}`} price={1}>
        <FullFigures />
        <h2>Metrics</h2>
        <PaidView paid={metrics} what={`the metrics of ${alias}`}>
          {({ body }) => <WalletMetrics metrics={body} />}
        </PaidView>
        <h2>Holdings</h2>
        <PaidView paid={holdings} what={`the holdings of ${alias}`}>
          {({ body }) => (
            <Holdings
              answer={body}
              page={page}
              turn={setPage}
              choose={(chosen) => {
                setMint(chosen)
                document.getElementById('position')?.scrollIntoView()
              }}
            />
          )}
        </PaidView>
        <h2 id="position">History of a position</h2>
        <PositionHistory alias={alias} held={held} mint={mint} choose={setMint} />
      </WithKey>
    </Page>
  )
}
