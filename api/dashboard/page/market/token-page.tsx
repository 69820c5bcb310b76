import { useMemo } from 'preact/hooks'
import type { SwapItem } from '../../../items/swap.ts'
import type { WalletAggregateItem } from '../../../items/wallet-aggregate.ts'
import { CopyButton, Empty, Page } from '../components.tsx'
import { QUOTE_COINS } from '../data/coins.ts'
import { type Column, DataTable } from '../data/data-table.tsx'
import { Amount, FigureText, FullFigures, Sol, Time, WalletLink } from '../data/figure-text.tsx'
import { percentFigure, shortAddress, usdFigure } from '../data/figures.ts'
import { isTokenAddress } from '../data/names.ts'
import { PaidView, usePaid, WithKey } from '../data/paid.tsx'
import { Side } from '../data/side.tsx'
import { aliasNumber } from '../data/sorting.ts'
import type { PageProps } from '../routes.ts'
import { OlderSwaps } from './older-swaps.tsx'
import { TokenCharts } from './token-charts.tsx'
import { SWAPS_PRICE, useSwaps } from './use-swaps.ts'

/** One token as the tracked wallets trade it. */
export function TokenPage({ params }: PageProps) {
  const { mint = '' } = params
  if (isTokenAddress(mint)) return <Token key={mint} mint={mint} />
  return (
    <Page title="No such token">
      <p>
        <code class="address">{mint}</code> is no token address.{' '}
        <a href="#/trades">See what is traded</a>.
      </p>
    </Page>
  )
}

interface AggregatesAnswer {
  readonly tracked_wallets: number
  readonly wallets: readonly WalletAggregateItem[]
}

function Token({ mint }: { mint: string }) {
  const aggregates = usePaid<AggregatesAnswer>(
    `/tokens/${encodeURIComponent(mint)}/wallet-aggregates`,
    3,
  )
  const loaded = useSwaps(mint)
  const { first, swaps, isWhole } = loaded
  const decimals = swaps[0]?.base_decimals
  return (
    <Page title={`Token ${shortAddress(mint)}`}>
      <p>
        <code class="address">{mint}</code> <CopyButton text={mint} what="address" />
      </p>
      <p>
        <a
          href={`https://explorer.solana.com/address/${encodeURIComponent(mint)}`}
          rel="noreferrer noopener"
          target="_blank"
        >
          Look it up at explorer.solana.com (another site, in a new tab)
        </a>
      </p>
      <WithKey what="its swaps and what each wallet did with it" price={SWAPS_PRICE}>
        <FullFigures />
        <h2>Swaps</h2>
        <PaidView paid={first} what="its swaps">
          {() =>
            swaps.length === 0 ? (
              <Empty>
                <p>
                  No tracked wallet has traded this token.{' '}
                  <a href="#/trades">See what they trade</a>.
                </p>
              </Empty>
            ) : (
              <>
                <TokenCharts swaps={swaps} isWhole={isWhole} />
                <DataTable
                  caption={`The newest ${swaps.length} swaps of tracked wallets`}
                  columns={SWAP_COLUMNS}
                  rows={swaps}
                  rowKey={(swap) => swaps.indexOf(swap)}
                />
                <OlderSwaps swaps={loaded} />
              </>
            )
          }
        </PaidView>
        <h2>By wallet</h2>
        <PaidView paid={aggregates} what="what each wallet did with it">
          {({ body: { wallets } }) =>
            wallets.length === 0 ? (
              <Empty>
                <p>No tracked wallet has traded this token.</p>
              </Empty>
            ) : (
              <Aggregates wallets={wallets} decimals={decimals} />
            )
          }
        </PaidView>
      </WithKey>
    </Page>
  )
}

const SWAP_COLUMNS: readonly Column<SwapItem>[] = [
  { key: 'time', title: 'Time', cell: ({ block_time }) => <Time unix={block_time} /> },
  { key: 'wallet', title: 'Wallet', cell: ({ wallet }) => <WalletLink alias={wallet} /> },
  { key: 'side', title: 'Side', cell: ({ side }) => <Side side={side} /> },
  {
    key: 'amount',
    title: 'Tokens',
    isFigure: true,
    cell: ({ base_amount, base_decimals }) => <Amount raw={base_amount} decimals={base_decimals} />,
  },
  {
    key: 'quote',
    title: 'For',
    isFigure: true,
    cell: ({ quote_mint, quote_amount }) => {
      const coin = QUOTE_COINS[quote_mint]
      return coin === undefined || quote_amount === '0' ? (
        <span title="No quote coin opposed it">another token</span>
      ) : (
        <Amount raw={quote_amount} decimals={coin.decimals} unit={coin.name} />
      )
    },
  },
  { key: 'program', title: 'Program', cell: ({ program }) => program },
  {
    key: 'notes',
    title: 'Read from',
    about: 'An instruction, or balance changes alone; and whether a clean quote was found',
    cell: ({ confidence, quote_mismatch }) =>
      `${confidence === 'high' ? 'instruction' : 'balances alone'}${quote_mismatch ? ', no clean quote' : ''}`,
  },
]

/** Raw amounts need the token's decimals, which its swaps say. */
function Aggregates(props: {
  readonly wallets: readonly WalletAggregateItem[]
  readonly decimals: number | undefined
}) {
  const { wallets, decimals } = props
  const columns = useMemo(() => aggregateColumns(decimals ?? 0), [decimals])
  return (
    <>
      {decimals === undefined && (
        <p class="about">
          Amounts are in smallest units until the swaps are loaded, which say the token’s decimals.
        </p>
      )}
      <DataTable
        caption={`${wallets.length} tracked wallets traded it`}
        columns={columns}
        rows={wallets}
        rowKey={({ wallet }) => wallet}
      />
      {wallets.some(({ base_net }) => base_net.startsWith('-')) && (
        <p class="about">
          “Still held” is bought less sold, by swaps alone. Below zero, the wallet sold tokens that
          it had not bought by a swap: they came by transfer.
        </p>
      )}
    </>
  )
}

function aggregateColumns(decimals: number): readonly Column<WalletAggregateItem>[] {
  const amount = (
    key: 'base_bought' | 'base_sold' | 'base_net',
    title: string,
    about: string,
  ): Column<WalletAggregateItem> => ({
    key,
    title,
    about,
    isFigure: true,
    value: (row) => BigInt(row[key]),
    cell: (row) => <Amount raw={row[key]} decimals={decimals} />,
  })
  return [
    {
      key: 'wallet',
      title: 'Wallet',
      isUpwards: true,
      value: ({ wallet }) => aliasNumber(wallet),
      cell: ({ wallet }) => <WalletLink alias={wallet} />,
    },
    {
      key: 'trades',
      title: 'Buys / sells',
      isFigure: true,
      value: ({ buys, sells }) => buys + sells,
      cell: ({ buys, sells }) => `${buys} / ${sells}`,
    },
    amount('base_bought', 'Bought', 'Tokens bought by swaps'),
    amount('base_sold', 'Sold', 'Tokens sold by swaps'),
    amount('base_net', 'Still held', 'Bought less sold, by swaps alone'),
    {
      key: 'part',
      title: 'Of what it bought',
      isFigure: true,
      value: ({ pct_held }) => pct_held,
      cell: ({ pct_held }) => <FigureText figure={percentFigure(pct_held * 100)} />,
    },
    {
      key: 'in',
      title: 'Spent',
      isFigure: true,
      value: ({ sol_in }) => sol_in,
      cell: ({ sol_in }) => <Sol sol={sol_in} />,
    },
    {
      key: 'out',
      title: 'Got back',
      isFigure: true,
      value: ({ sol_out }) => sol_out,
      cell: ({ sol_out }) => <Sol sol={sol_out} />,
    },
    {
      key: 'entry',
      title: 'Entry market cap',
      about: 'At the wallet’s first buy, in USD',
      isFigure: true,
      value: ({ entry_mcap }) => entry_mcap,
      cell: ({ entry_mcap }) => <FigureText figure={usdFigure(entry_mcap)} />,
    },
    {
      key: 'first',
      title: 'First buy',
      isUpwards: true,
      value: ({ first_buy_time }) => first_buy_time,
      cell: ({ first_buy_time }) => <Time unix={first_buy_time} />,
    },
    {
      key: 'last',
      title: 'Last trade',
      value: ({ last_trade_time }) => last_trade_time,
      cell: ({ last_trade_time }) => <Time unix={last_trade_time} />,
    },
  ]
}
