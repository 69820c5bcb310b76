import type { WalletAggregateItem } from '../../../items/wallet-aggregate.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { PageLayout } from '../components/page-layout.tsx'
import { EmptyNotice } from '../components/query-view.tsx'
import { DataTable } from '../data/data-table.tsx'
import { shortAddress } from '../data/format.ts'
import { ExactNumbersToggle } from '../data/formatted.tsx'
import { isTokenAddress } from '../data/identifiers.ts'
import { PaidView } from '../data/paid-view.tsx'
import { usePaidQuery } from '../data/use-paid-query.ts'
import type { PageProps } from '../page-props.ts'
import { OlderSwapsButton } from './older-swaps-button.tsx'
import { TokenCharts } from './token-charts.tsx'
import { TOKEN_SWAP_COLUMNS } from './token-swap-columns.tsx'
import { type TokenSwaps, useTokenSwaps } from './use-token-swaps.ts'
import { WalletAggregates } from './wallet-aggregates.tsx'

/** A token: the swaps of tracked wallets, and their totals by wallet. */
export function TokenPage({ params }: PageProps) {
  const { mint = '' } = params
  if (isTokenAddress(mint)) return <Token key={mint} mint={mint} />
  return (
    <PageLayout title="Token not found">
      <p>
        <code class="address">{mint}</code> is not a token address.{' '}
        <a href="#/trades">See live trades</a>
      </p>
    </PageLayout>
  )
}

/** Price of the totals by wallet, in credits. */
const AGGREGATES_PRICE = 3

interface AggregatesResponse {
  readonly tracked_wallets: number
  readonly wallets: readonly WalletAggregateItem[]
}

function Token({ mint }: { mint: string }) {
  const aggregates = usePaidQuery<AggregatesResponse>(
    `/tokens/${encodeURIComponent(mint)}/wallet-aggregates`,
    AGGREGATES_PRICE,
  )
  const loaded = useTokenSwaps(mint)
  return (
    <PageLayout title={`Token ${shortAddress(mint)}`}>
      <p>
        <code class="address">{mint}</code> <CopyButton text={mint} what="address" />
      </p>
      <p>
        <a
          href={`https://explorer.solana.com/address/${encodeURIComponent(mint)}`}
          rel="noreferrer noopener"
          target="_blank"
        >
          View on explorer.solana.com (opens a new tab)
        </a>
      </p>
      <ExactNumbersToggle />
      <h2>Swaps</h2>
      <PaidView query={loaded.first} what="the swaps of this token">
        {() => <Swaps loaded={loaded} />}
      </PaidView>
      <h2>Totals by wallet</h2>
      <PaidView query={aggregates} what="the totals by wallet">
        {({ body: { wallets } }) =>
          wallets.length === 0 ? (
            <EmptyNotice>No tracked wallet has traded this token.</EmptyNotice>
          ) : (
            <WalletAggregates wallets={wallets} decimals={loaded.swaps[0]?.base_decimals} />
          )
        }
      </PaidView>
    </PageLayout>
  )
}

function Swaps({ loaded }: { readonly loaded: TokenSwaps }) {
  const { swaps, isComplete } = loaded
  if (swaps.length === 0)
    return (
      <EmptyNotice>
        No tracked wallet has traded this token. <a href="#/trades">See live trades</a>
      </EmptyNotice>
    )
  return (
    <>
      <TokenCharts swaps={swaps} isComplete={isComplete} />
      <DataTable
        caption={
          isComplete
            ? `All swaps by tracked wallets (${swaps.length}), newest first`
            : `The newest ${swaps.length} swaps by tracked wallets`
        }
        columns={TOKEN_SWAP_COLUMNS}
        rows={swaps}
        rowKey={(swap) => swaps.indexOf(swap)}
      />
      <OlderSwapsButton swaps={loaded} />
    </>
  )
}
