import { useId, useState } from 'preact/hooks'
import { creditsText } from '../amounts.ts'
import { Failure, Loading, Page } from '../components.tsx'
import { QUOTE_COINS } from '../data/coins.ts'
import { type Column, DataTable } from '../data/data-table.tsx'
import { type ListedTrade, readFilter } from '../data/feed-list.ts'
import { Amount, FullFigures, Time, TokenLink, WalletLink } from '../data/figure-text.tsx'
import { KeyNeeded } from '../data/key-needed.tsx'
import { Notices } from '../data/notices.tsx'
import { Side } from '../data/side.tsx'
import { type FeedPhase, LONGEST, PRICES, useTradeFeed } from '../data/use-trade-feed.ts'
import { useApiKey } from '../session.ts'

/** Trades of all tracked wallets: history first, then as they happen. Nothing is asked for before the person starts it. */
export function TradesPage() {
  const [key] = useApiKey()
  const feed = useTradeFeed(key)
  const { phase, list, spent, notices, failure } = feed
  const isIdle = phase.kind === 'idle'
  return (
    <Page title="Live trades">
      <p>
        Trades of the tracked wallets, newest first. To start costs {creditsText(PRICES.history)}{' '}
        for the last 100 trades, then each trade that arrives costs {creditsText(PRICES.message)}.
      </p>
      {key === null && isIdle ? (
        <KeyNeeded what="live trades" price={PRICES.history} />
      ) : (
        <>
          <FilterForm phase={phase} isLoading={feed.isLoading} start={feed.start} />
          <div class="feed-bar">
            <p role="status">
              <strong>{PHASES[phase.kind]}</strong>
            </p>
            <p>
              Spent here: {creditsText(spent.history + spent.messages)} ({spent.messages} live,{' '}
              {spent.history} for history)
            </p>
            {(phase.kind === 'live' || phase.kind === 'connecting' || phase.kind === 'cut') && (
              <button type="button" onClick={feed.pause}>
                Pause (nothing is charged meanwhile)
              </button>
            )}
            {feed.canGoOn && key !== null && (
              <>
                <button type="button" class="primary" onClick={() => feed.goOn('there')}>
                  Go on where it stopped (1 credit for each trade since)
                </button>
                <button type="button" onClick={() => feed.goOn('now')}>
                  Go on from now (1 credit a trade)
                </button>
              </>
            )}
            <FullFigures />
          </div>
          <Notices notices={notices} />
          {failure !== null && <Failure failure={failure} />}
          {failure?.kind === 'refused' && failure.status === 401 && (
            <KeyNeeded what="live trades" price={PRICES.history} />
          )}
          {feed.isLoading && <Loading what="the last trades" />}
          {list.trades.length > 0 && (
            <DataTable
              caption={`Trades, newest first${list.dropped > 0 ? ` (the newest ${LONGEST} of ${list.taken})` : ''}`}
              columns={COLUMNS}
              rows={list.trades}
              rowKey={({ row }) => row}
              rowClass={({ isLate, from }) => (isLate ? 'is-late' : from)}
            />
          )}
          {!isIdle && !feed.isLoading && list.trades.length === 0 && (
            <p class="empty">
              No trade yet that matches. With no filter they come every few seconds; look further
              back with the button below.
            </p>
          )}
          {feed.hasOlder && (
            <button type="button" disabled={feed.isLoading} onClick={feed.older}>
              100 older trades ({creditsText(PRICES.history)})
            </button>
          )}
        </>
      )}
    </Page>
  )
}

function FilterForm(props: {
  readonly phase: FeedPhase
  readonly isLoading: boolean
  readonly start: ReturnType<typeof useTradeFeed>['start']
}) {
  const { phase, isLoading, start } = props
  const [wallets, setWallets] = useState('')
  const [mints, setMints] = useState('')
  const [budget, setBudget] = useState('1000')
  const [faults, setFaults] = useState<readonly string[]>([])
  const id = useId()
  return (
    <form
      class="filter"
      onSubmit={(event) => {
        event.preventDefault()
        const read = readFilter(wallets, mints)
        const most = /^[1-9][0-9]{0,8}$/.test(budget.trim()) ? Number(budget) : null
        const wrong = [
          ...read.faults,
          ...(most === null ? ['Say in whole credits how many may be spent.'] : []),
        ]
        setFaults(wrong)
        if (wrong.length === 0 && most !== null) start(read.filter, most)
      }}
    >
      <div class="field">
        <label for={`${id}w`}>Wallets</label>
        <input
          type="text"
          id={`${id}w`}
          value={wallets}
          placeholder="all, or W1 W12 …"
          onInput={(event) => setWallets(event.currentTarget.value)}
        />
      </div>
      <div class="field wide">
        <label for={`${id}m`}>Tokens</label>
        <input
          type="text"
          id={`${id}m`}
          value={mints}
          placeholder="all, or token addresses"
          spellcheck={false}
          onInput={(event) => setMints(event.currentTarget.value)}
        />
      </div>
      <div class="field">
        <label for={`${id}b`}>Pause after (credits)</label>
        <input
          type="text"
          id={`${id}b`}
          inputMode="numeric"
          value={budget}
          onInput={(event) => setBudget(event.currentTarget.value)}
        />
      </div>
      <button type="submit" class="primary" disabled={isLoading}>
        {phase.kind === 'idle' ? 'Start' : 'Start anew with this filter'} ({PRICES.history} credits,
        then {PRICES.message} a trade)
      </button>
      {faults.length > 0 && (
        <ul role="alert" class="faults">
          {faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      )}
    </form>
  )
}

const PHASES: Readonly<Record<FeedPhase['kind'], string>> = {
  idle: 'Not started',
  connecting: 'Connecting …',
  live: 'Live',
  cut: 'The connection was cut; coming back …',
  paused: 'Paused',
  ended: 'Stopped',
}

const COLUMNS: readonly Column<ListedTrade>[] = [
  {
    key: 'time',
    title: 'Time',
    cell: ({ trade, isLate }) => (
      <>
        <Time unix={trade.block_time} />
        {isLate && (
          <span class="badge" title="Learnt late: it stands at its time, below newer trades">
            late
          </span>
        )}
      </>
    ),
  },
  { key: 'wallet', title: 'Wallet', cell: ({ trade }) => <WalletLink alias={trade.wallet} /> },
  { key: 'side', title: 'Side', cell: ({ trade }) => <Side side={trade.side} /> },
  { key: 'token', title: 'Token', cell: ({ trade }) => <TokenLink mint={trade.mint} /> },
  {
    key: 'amount',
    title: 'Tokens',
    isFigure: true,
    cell: ({ trade }) => <Amount raw={trade.token_amount} decimals={trade.decimals} />,
  },
  {
    key: 'quote',
    title: 'For',
    isFigure: true,
    cell: ({ trade }) => <QuoteAmount mint={trade.quote_mint} raw={trade.quote_amount} />,
  },
  { key: 'program', title: 'Program', cell: ({ trade }) => trade.program },
]

function QuoteAmount({ mint, raw }: { mint: string | null; raw: string }) {
  const coin = mint === null ? undefined : QUOTE_COINS[mint]
  return coin === undefined ? (
    <span title="One token for another: no quote coin opposed it">another token</span>
  ) : (
    <Amount raw={raw} decimals={coin.decimals} unit={coin.name} />
  )
}
