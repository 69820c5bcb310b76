import type { WalletMetricsItem } from '../../../items/wallet-metrics.ts'
import { type Fact, FactGroup, fact } from '../data/fact-group.tsx'
import { formatNumber } from '../data/format.ts'
import {
  FormattedText,
  showCount,
  showDuration,
  showPercent,
  showSol,
  TimeAgo,
} from '../data/formatted.tsx'
import { BusiestHours } from './busiest-hours.tsx'
import { WALLET_STATUSES } from './wallet-status.tsx'

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
        Computed: <TimeAgo unix={computed_at === 0 ? null : computed_at} />. Trades in USDC and USDT
        count at the SOL price of their time.
      </p>
    </>
  )
}

/** What each status of a wallet means (rule C13). */
export function identityFacts({ score, status, tracked }: WalletMetricsItem['identity']): Fact[] {
  return [
    fact(
      'Score',
      <FormattedText value={formatNumber(score)} />,
      'quality from 0 to 100, from profit, win rate, holding time and size',
    ),
    fact('Status', status, WALLET_STATUSES[status]),
    fact('Tracked', tracked ? 'yes' : 'no'),
  ]
}

function profitFacts(pnl: WalletMetricsItem['pnl']): Fact[] {
  return [
    fact(
      'Realised profit',
      showSol(pnl.pnl_sol),
      'over all tokens; each sell is matched with the oldest buys',
    ),
    fact('SOL balance', showSol(pnl.sol_balance), 'SOL in the wallet'),
    fact('Spent on buys', showSol(pnl.sol_bought)),
    fact('Received from sells', showSol(pnl.sol_sold)),
    fact(
      'Cost of open positions',
      showSol(pnl.sol_invested_open),
      'what the wallet paid for the tokens that it has not sold',
    ),
    fact(
      'Open positions',
      showCount(pnl.unrealized_token_count),
      'tokens held, including tokens received by transfer',
    ),
  ]
}

function activityFacts(activity: WalletMetricsItem['activity']): Fact[] {
  return [
    fact(
      'Trades',
      showCount(activity.total_trades),
      `${activity.buys} buys and ${activity.sells} sells`,
    ),
    fact('Tokens traded', showCount(activity.unique_tokens_traded)),
    fact(
      'Token transfers',
      `${activity.transfers_in} in, ${activity.transfers_out} out`,
      'tokens received or sent without a trade',
    ),
    fact('SOL transferred in', showSol(activity.sol_received), 'received without a trade'),
    fact('SOL transferred out', showSol(activity.sol_sent), 'sent without a trade'),
  ]
}

function rateFacts(behavior: WalletMetricsItem['behavior']): Fact[] {
  return [
    fact(
      'Win rate',
      showPercent(behavior.winrate),
      'percentage of the tokens sold that made a profit',
    ),
    fact(
      'Loss rate',
      showPercent(behavior.loserate),
      'percentage of the tokens sold that made a loss',
    ),
    fact('Mean buy', showSol(behavior.avg_buy_amount)),
    fact('Mean sell', showSol(behavior.avg_sell_amount)),
  ]
}

function timingFacts(behavior: WalletMetricsItem['behavior']): Fact[] {
  return [
    fact(
      'Mean holding time',
      showDuration(behavior.avg_holding_time),
      'from a buy to the sell that is matched with it',
    ),
    fact(
      'Mean time to 90% exit',
      showDuration(behavior.avg_time_to_almost_full_exit),
      'from the first buy until 90% of the tokens bought are sold',
    ),
    fact(
      'Quick sells',
      showCount(behavior.quick_sells),
      'buys of which at least half was sold within 15 s',
    ),
    fact(
      'Sold more than bought',
      showCount(behavior.sold_more_than_bought),
      'tokens; the wallet received the rest by transfer',
    ),
  ]
}
