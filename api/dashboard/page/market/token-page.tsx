import type { TokenItem } from '../../../items/token.ts'
import type { WalletAggregateItem } from '../../../items/wallet-aggregate.ts'
import { CopyIcon } from '../components/copy-icon.tsx'
import { PageLayout } from '../components/page-layout.tsx'
import { EmptyNotice } from '../components/query-view.tsx'
import { DataTable } from '../data/data-table.tsx'
import { FavouriteButton } from '../data/favourite-button.tsx'
import { shortAddress } from '../data/format.ts'
import { ExactNumbersToggle } from '../data/formatted.tsx'
import { isTokenAddress } from '../data/identifiers.ts'
import { LoadAll } from '../data/load-all.tsx'
import { MoreButton } from '../data/more-button.tsx'
import { PaidView } from '../data/paid-view.tsx'
import { usePaidQuery } from '../data/use-paid-query.ts'
import type { PageProps } from '../page-props.ts'
import { TokenCharts } from './token-charts.tsx'
import { TokenFactGroups } from './token-facts.tsx'
import { TOKEN_SWAP_COLUMNS } from './token-swap-columns.tsx'
import { type TokenSwaps, useTokenSwaps } from './use-token-swaps.ts'
import { WalletAggregates } from './wallet-aggregates.tsx'

/** A token: facts, price, holders, and the swaps of tracked wallets. */
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

/** Price of each request of this page, in credits. */
const PRICE = 3

interface AggregatesResponse {
  readonly tracked_wallets: number
  readonly wallets: readonly WalletAggregateItem[]
}

function Token({ mint }: { mint: string }) {
  const facts = usePaidQuery<TokenItem>(`/tokens/${encodeURIComponent(mint)}`, PRICE)
  const aggregates = usePaidQuery<AggregatesResponse>(
    `/tokens/${encodeURIComponent(mint)}/wallet-aggregates`,
    PRICE,
  )
  const loaded = useTokenSwaps(mint)
  const symbol = facts.response?.body.token.symbol ?? loaded.items[0]?.symbol ?? null
  return (
    <PageLayout
      title={`Token ${symbol ?? shortAddress(mint)}`}
      actions={<FavouriteButton favourite={{ kind: 'token', id: mint, symbol }} />}
    >
      <p>
        <code class="address">{mint}</code> <CopyIcon text={mint} what="address" />
      </p>
      <TokenSites mint={mint} />
      <ExactNumbersToggle />
      <LoadAll queries={[facts, loaded.first, aggregates]} what="all of this token" />
      <h2>Facts</h2>
      <PaidView query={facts} what="the facts of this token">
        {({ body }) => <TokenFactGroups token={body} />}
      </PaidView>
      <h2>Price and swaps</h2>
      <PaidView query={loaded.first} what="the swaps of this token">
        {() => <Swaps loaded={loaded} />}
      </PaidView>
      <h2>Holders and totals by wallet</h2>
      <PaidView query={aggregates} what="the totals by wallet">
        {({ body: { wallets } }) =>
          wallets.length === 0 ? (
            <EmptyNotice>No tracked wallet has traded this token.</EmptyNotice>
          ) : (
            <WalletAggregates wallets={wallets} decimals={loaded.items[0]?.base_decimals} />
          )
        }
      </PaidView>
    </PageLayout>
  )
}

/** Sites that show a token: explorers of the chain, and what DEX pools say of it. */
const SITES: readonly { readonly name: string; readonly url: string }[] = [
  { name: 'explorer.solana.com', url: 'https://explorer.solana.com/address/' },
  { name: 'solscan.io', url: 'https://solscan.io/token/' },
  { name: 'birdeye.so', url: 'https://birdeye.so/token/' },
  { name: 'dexscreener.com', url: 'https://dexscreener.com/solana/' },
]

function TokenSites({ mint }: { readonly mint: string }) {
  return (
    <p>
      On other sites, in a new tab:{' '}
      {SITES.map(({ name, url }, index) => (
        <span key={name}>
          {index > 0 && ' · '}
          <a href={`${url}${encodeURIComponent(mint)}`} rel="noreferrer noopener" target="_blank">
            {name}
          </a>
        </span>
      ))}
    </p>
  )
}

function Swaps({ loaded }: { readonly loaded: TokenSwaps }) {
  const { items: swaps, isComplete } = loaded
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
      <MoreButton list={loaded} what="200 older swaps" />
    </>
  )
}
