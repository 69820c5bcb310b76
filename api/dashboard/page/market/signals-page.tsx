import { useMemo } from 'preact/hooks'
import type { SignalItem } from '../../../items/signal.ts'
import { Empty, Failure, Loading, Page } from '../components.tsx'
import { type Column, DataTable } from '../data/data-table.tsx'
import { Facts } from '../data/facts.tsx'
import { FigureText, Sol, Time, TokenLink, WalletLink } from '../data/figure-text.tsx'
import { numberFigure, usdFigure } from '../data/figures.ts'
import {
  nameWords,
  reasonWords,
  type Signals as SignalMap,
  wholeSignals,
  withSignalMessages,
} from '../data/signal-words.ts'
import { useView, type ViewRules } from '../data/use-view.ts'
import { ViewLink } from '../data/view-link.tsx'

const RULES: ViewRules<SignalMap, { readonly items: readonly SignalItem[] }> = {
  path: '/me/signals/filter?limit=100',
  channel: 'signals',
  whole: ({ items }) => wholeSignals(items),
  change: withSignalMessages,
}

/** What the filter strategies found on the watchlist, newest first, live. */
export function SignalsPage() {
  const view = useView(RULES)
  const { state } = view
  const list = useMemo(() => [...(state?.values() ?? [])].reverse(), [state])
  return (
    <Page
      title="Signals"
      about="A strategy fires once for each token and stay on the watchlist, when all its conditions first hold. Part of Pro; it costs no credits."
    >
      {state === null ? (
        view.failure === null ? (
          <Loading what="the signals" />
        ) : (
          <Failure failure={view.failure} again={view.reload} />
        )
      ) : (
        <>
          <ViewLink view={view} />
          {list.length === 0 ? (
            <Empty>
              <p>
                No strategy has fired yet. New signals appear here by themselves;{' '}
                <a href="#/trending">look at what is trending</a> meanwhile.
              </p>
            </Empty>
          ) : (
            <DataTable
              caption={list.length === 1 ? 'One signal' : `The newest ${list.length} signals`}
              columns={COLUMNS}
              rows={list}
              rowKey={({ id }) => id}
              sorting={{ column: 'fired', descending: true }}
              more={{
                label: ({ strategy, symbol, mint }) =>
                  `${nameWords(strategy)} on ${symbol || mint}`,
                show: (signal) => <Details signal={signal} />,
              }}
            />
          )}
        </>
      )}
    </Page>
  )
}

const COLUMNS: readonly Column<SignalItem>[] = [
  {
    key: 'fired',
    title: 'Fired',
    value: ({ fired_at }) => fired_at,
    cell: ({ fired_at }) => <Time unix={fired_at} />,
  },
  {
    key: 'strategy',
    title: 'Strategy',
    isUpwards: true,
    value: ({ strategy }) => strategy,
    cell: ({ strategy }) => nameWords(strategy),
  },
  {
    key: 'token',
    title: 'Token',
    isUpwards: true,
    value: ({ symbol, mint }) => (symbol || mint).toLowerCase(),
    cell: ({ mint, symbol }) => <TokenLink mint={mint} symbol={symbol} />,
  },
  {
    key: 'reasons',
    title: 'Because',
    cell: ({ reasons }) => (
      <ul class="reasons">
        {reasons.map((reason) => (
          <li key={`${reason.field} ${reason.op} ${reason.threshold}`}>{reasonWords(reason)}</li>
        ))}
      </ul>
    ),
  },
  {
    key: 'trigger',
    title: 'Market cap then',
    isFigure: true,
    value: ({ trigger_mcap }) => trigger_mcap,
    cell: ({ trigger_mcap }) => <FigureText figure={usdFigure(trigger_mcap)} />,
  },
  {
    key: 'multiple',
    title: 'Since',
    about: 'Market cap now against then',
    isFigure: true,
    value: ({ multiple }) => multiple,
    cell: ({ multiple, current_mcap }) => (
      <>
        {multiple === null ? '–' : `${numberFigure(multiple).text}×`}{' '}
        <small>
          (<FigureText figure={usdFigure(current_mcap)} />)
        </small>
      </>
    ),
  },
]

function Details({ signal }: { signal: SignalItem }) {
  return (
    <div class="fact-groups">
      <Facts
        level="h2"
        title="Token"
        facts={[
          { name: 'Name', value: signal.name === '' ? 'not known yet' : signal.name },
          { name: 'Address', value: <code class="address">{signal.mint}</code> },
        ]}
      />
      <Facts
        level="h2"
        title="When it fired"
        facts={[
          {
            name: 'Conviction',
            value: <FigureText figure={numberFigure(signal.conviction, 1)} />,
          },
          { name: 'Held', value: <Sol sol={signal.sol_held} />, about: 'what it cost the holders' },
          { name: 'Bought within an hour', value: <Sol sol={signal.buy_volume} /> },
          { name: 'Sold within an hour', value: <Sol sol={signal.sell_volume} /> },
          {
            name: 'Holders',
            value: (
              <>
                {signal.wallets_holding}:{' '}
                {signal.wallets.map((alias, index) => (
                  <span key={alias}>
                    {index > 0 && ', '}
                    <WalletLink alias={alias} />
                  </span>
                ))}
              </>
            ),
          },
        ]}
      />
    </div>
  )
}
