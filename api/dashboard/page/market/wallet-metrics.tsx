import type { WalletMetricsItem } from '../../../items/wallet-metrics.ts'
import { type Fact, FactGroup } from '../data/fact-group.tsx'
import { formatNumber, formatPercent } from '../data/format.ts'
import { Duration, FormattedText, LocalTime, SolAmount } from '../data/formatted.tsx'
import { BusiestHours } from './busiest-hours.tsx'

/** All metrics of a wallet in groups, each with its meaning. */
export function WalletMetrics({ metrics }: { metrics: WalletMetricsItem }) {
  const { identity, pnl, activity, behavior, computed_at } = metrics
  return (
    <>
      <div class="fact-groups">
        <FactGroup title="Identity" facts={identityFacts(identity)} />
        <FactGroup title="Profit and loss" facts={profitFacts(pnl)} />
        <FactGroup title="Activity" facts={activityFacts(activity)} />
        <FactGroup title="Behaviour" facts={[...rateFacts(behavior), ...timingFacts(behavior)]} />
      </div>
      <BusiestHours times={behavior.active_times} />
      <p class="about">
        Computed: <LocalTime unix={computed_at === 0 ? null : computed_at} />. Trades in USDC and
        USDT count at the SOL price of their time.
      </p>
    </>
  )
}

const STATUSES = {
  scored: '50 to 1000 trades, and not disqualified',
  review: 'fewer than 50 or more than 1000 trades, so there is no score',
  disqualified: 'less than 10 SOL, or a loss with a win rate below 35%',
} as const

function identityFacts({ score, status, tracked }: WalletMetricsItem['identity']): Fact[] {
  return [
    {
      name: 'Score',
      value: <FormattedText value={formatNumber(score)} />,
      description: 'quality from 0 to 100, from profit, win rate, holding time and size',
    },
    { name: 'Status', value: status, description: STATUSES[status] },
    { name: 'Tracked', value: tracked ? 'yes' : 'no' },
  ]
}

function profitFacts(pnl: WalletMetricsItem['pnl']): Fact[] {
  return [
    {
      name: 'Realised profit',
      value: <SolAmount sol={pnl.pnl_sol} />,
      description: 'over all tokens; each sell is matched with the oldest buys',
    },
    {
      name: 'SOL balance',
      value: <SolAmount sol={pnl.sol_balance} />,
      description: 'SOL in the wallet',
    },
    { name: 'Spent on buys', value: <SolAmount sol={pnl.sol_bought} /> },
    { name: 'Received from sells', value: <SolAmount sol={pnl.sol_sold} /> },
    {
      name: 'Cost of open positions',
      value: <SolAmount sol={pnl.sol_invested_open} />,
      description: 'what the wallet paid for the tokens that it has not sold',
    },
    {
      name: 'Open positions',
      value: <Count of={pnl.unrealized_token_count} />,
      description: 'tokens held, including tokens received by transfer',
    },
  ]
}

function activityFacts(activity: WalletMetricsItem['activity']): Fact[] {
  return [
    {
      name: 'Trades',
      value: <Count of={activity.total_trades} />,
      description: `${activity.buys} buys and ${activity.sells} sells`,
    },
    { name: 'Tokens traded', value: <Count of={activity.unique_tokens_traded} /> },
    {
      name: 'Token transfers',
      value: `${activity.transfers_in} in, ${activity.transfers_out} out`,
      description: 'tokens received or sent without a trade',
    },
    {
      name: 'SOL transferred in',
      value: <SolAmount sol={activity.sol_received} />,
      description: 'received without a trade',
    },
    {
      name: 'SOL transferred out',
      value: <SolAmount sol={activity.sol_sent} />,
      description: 'sent without a trade',
    },
  ]
}

function rateFacts(behavior: WalletMetricsItem['behavior']): Fact[] {
  return [
    {
      name: 'Win rate',
      value: <FormattedText value={formatPercent(behavior.winrate)} />,
      description: 'percentage of the tokens sold that made a profit',
    },
    {
      name: 'Loss rate',
      value: <FormattedText value={formatPercent(behavior.loserate)} />,
      description: 'percentage of the tokens sold that made a loss',
    },
    { name: 'Mean buy', value: <SolAmount sol={behavior.avg_buy_amount} /> },
    { name: 'Mean sell', value: <SolAmount sol={behavior.avg_sell_amount} /> },
  ]
}

function timingFacts(behavior: WalletMetricsItem['behavior']): Fact[] {
  return [
    {
      name: 'Mean holding time',
      value: <Duration seconds={behavior.avg_holding_time} />,
      description: 'from a buy to the sell that is matched with it',
    },
    {
      name: 'Mean time to 90% exit',
      value: <Duration seconds={behavior.avg_time_to_almost_full_exit} />,
      description: 'from the first buy until 90% of the tokens bought are sold',
    },
    {
      name: 'Quick sells',
      value: <Count of={behavior.quick_sells} />,
      description: 'buys of which at least half was sold within 15 s',
    },
    {
      name: 'Sold more than bought',
      value: <Count of={behavior.sold_more_than_bought} />,
      description: 'tokens; the wallet received the rest by transfer',
    },
  ]
}

function Count({ of }: { readonly of: number }) {
  return <FormattedText value={formatNumber(of, 0)} />
}
