import { useMemo } from 'preact/hooks'
import type { SignalItem } from '../../../items/signal.ts'
import { EmptyNotice } from '../components/query-view.tsx'
import { DataTable } from '../data/data-table.tsx'
import { type Fact, FactGroup, fact } from '../data/fact-group.tsx'
import { formatNumber, formatUsd } from '../data/format.ts'
import {
  FormattedText,
  showSol,
  showUsd,
  TimeAgo,
  TokenLink,
  WalletLink,
} from '../data/formatted.tsx'
import type { LiveViewRules } from '../data/live-view.ts'
import {
  applySignalMessages,
  reasonText,
  type SignalsById,
  signalsFromResponse,
  strategyTitle,
} from '../data/signal-text.ts'
import { numberColumn, type TableColumn } from '../data/table-column.ts'
import { useLiveView } from '../data/use-live-view.ts'
import { LiveViewPage } from './live-view-page.tsx'
import { Multiple } from './multiple.tsx'

const RULES: LiveViewRules<SignalsById, { readonly items: readonly SignalItem[] }> = {
  path: '/me/signals/filter?limit=100',
  channel: 'signals',
  fromResponse: ({ items }) => signalsFromResponse(items),
  applyMessages: applySignalMessages,
}

/** The signals of the filter strategies, newest first, live. */
export function SignalsPage() {
  const view = useLiveView(RULES)
  return (
    <LiveViewPage
      title="Signals"
      about="A strategy fires when all its conditions hold for a trending token, once while the token is on the list. Part of Pro; this page costs no credits."
      what="the signals"
      view={view}
    >
      {(signals) => <SignalTable signals={signals} />}
    </LiveViewPage>
  )
}

function SignalTable({ signals }: { signals: SignalsById }) {
  const list = useMemo(() => [...signals.values()].reverse(), [signals])
  if (list.length === 0)
    return (
      <EmptyNotice>
        No strategy has fired yet. New signals appear here automatically.{' '}
        <a href="#/trending">See trending tokens</a>
      </EmptyNotice>
    )
  return (
    <DataTable
      caption={list.length === 1 ? '1 signal' : `The newest ${list.length} signals`}
      columns={COLUMNS}
      rows={list}
      rowKey={({ id }) => id}
      sorting={{ column: 'fired', descending: true }}
      details={{
        label: ({ strategy, symbol, mint }) => `${strategyTitle(strategy)} on ${symbol || mint}`,
        show: (signal) => <SignalDetails signal={signal} />,
      }}
    />
  )
}

const COLUMNS: readonly TableColumn<SignalItem>[] = [
  {
    key: 'fired',
    title: 'Fired',
    sortValue: ({ fired_at }) => fired_at,
    cell: ({ fired_at }) => <TimeAgo unix={fired_at} />,
  },
  {
    key: 'strategy',
    title: 'Strategy',
    isAscendingFirst: true,
    sortValue: ({ strategy }) => strategy,
    cell: ({ strategy }) => strategyTitle(strategy),
  },
  {
    key: 'token',
    title: 'Token',
    isAscendingFirst: true,
    sortValue: ({ symbol, mint }) => (symbol || mint).toLowerCase(),
    cell: ({ mint, symbol }) => <TokenLink mint={mint} symbol={symbol} />,
  },
  {
    key: 'reasons',
    title: 'Conditions',
    description: 'The conditions of the strategy, with the values when it fired',
    cell: ({ reasons }) => (
      <ul class="reasons">
        {reasons.map((reason) => (
          <li key={`${reason.field} ${reason.op} ${reason.threshold}`}>{reasonText(reason)}</li>
        ))}
      </ul>
    ),
  },
  numberColumn('trigger', 'Market cap when fired', ({ trigger_mcap }) => trigger_mcap, showUsd),
  {
    key: 'multiple',
    title: 'Latest market cap',
    description:
      'In USD, and as a multiple of the market cap when fired. Of a token that has left the list it is the market cap at which it left.',
    isNumeric: true,
    sortValue: ({ multiple }) => multiple,
    cell: ({ multiple, current_mcap }) => (
      <>
        <FormattedText value={formatUsd(current_mcap)} />{' '}
        <small>
          (<Multiple of={multiple} />)
        </small>
      </>
    ),
  },
]

function SignalDetails({ signal }: { signal: SignalItem }) {
  return (
    <div class="fact-groups">
      <FactGroup
        level="h2"
        title="Token"
        facts={[
          { name: 'Name', value: signal.name === '' ? 'not known yet' : signal.name },
          { name: 'Address', value: <code class="address">{signal.mint}</code> },
        ]}
      />
      <FactGroup level="h2" title="When it fired" facts={firedFacts(signal)} />
    </div>
  )
}

function firedFacts(signal: SignalItem): Fact[] {
  return [
    fact('Conviction', <FormattedText value={formatNumber(signal.conviction, 1)} />),
    fact(
      'Cost of holdings',
      showSol(signal.sol_held),
      'what the holders paid for the tokens that they had',
    ),
    fact('Bought, 1 h', showSol(signal.buy_volume)),
    fact('Sold, 1 h', showSol(signal.sell_volume)),
    fact(
      'Holders',
      <>
        {signal.wallets_holding}:{' '}
        {signal.wallets.map((alias, index) => (
          <span key={alias}>
            {index > 0 && ', '}
            <WalletLink alias={alias} />
          </span>
        ))}
      </>,
    ),
  ]
}
