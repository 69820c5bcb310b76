import type { WalletMetricsItem } from '../../../items/wallet-metrics.ts'
import { Facts } from '../data/facts.tsx'
import { FigureText, Sol, Span, Time } from '../data/figure-text.tsx'
import { numberFigure, percentFigure } from '../data/figures.ts'
import { ActivityHours } from './activity-hours.tsx'

/** All metrics of a wallet in their groups, each with what it means. */
export function WalletMetrics({ metrics }: { metrics: WalletMetricsItem }) {
  const { identity, pnl, activity, behavior, computed_at } = metrics
  const count = (value: number) => <FigureText figure={numberFigure(value, 0)} />
  return (
    <>
      <div class="fact-groups">
        <Facts
          title="Identity"
          facts={[
            {
              name: 'Score',
              value: <FigureText figure={numberFigure(identity.score)} />,
              about: 'quality from 0 to 100, from profit, win rate, holding time and size',
            },
            { name: 'Status', value: identity.status, about: STATUSES[identity.status] },
            { name: 'Tracked', value: identity.tracked ? 'yes' : 'no' },
          ]}
        />
        <Facts
          title="Profit and loss"
          facts={[
            {
              name: 'Realised profit',
              value: <Sol sol={pnl.pnl_sol} />,
              about: 'over all tokens: sell price less the price of the oldest lot, by quantity',
            },
            { name: 'Balance', value: <Sol sol={pnl.sol_balance} />, about: 'SOL on the wallet' },
            { name: 'Spent on buys', value: <Sol sol={pnl.sol_bought} /> },
            { name: 'Got from sells', value: <Sol sol={pnl.sol_sold} /> },
            {
              name: 'In open positions',
              value: <Sol sol={pnl.sol_invested_open} />,
              about: 'what all lots cost that are not sold yet',
            },
            {
              name: 'Tokens in open positions',
              value: count(pnl.unrealized_token_count),
              about: 'what came or left by a transfer counts too',
            },
          ]}
        />
        <Facts
          title="Activity"
          facts={[
            {
              name: 'Trades',
              value: count(activity.total_trades),
              about: `${activity.buys} buys and ${activity.sells} sells`,
            },
            { name: 'Tokens traded', value: count(activity.unique_tokens_traded) },
            {
              name: 'Token transfers',
              value: `${activity.transfers_in} in, ${activity.transfers_out} out`,
              about: 'what came or went without a trade',
            },
            {
              name: 'SOL received',
              value: <Sol sol={activity.sol_received} />,
              about: 'by plain transfers',
            },
            { name: 'SOL sent', value: <Sol sol={activity.sol_sent} />, about: 'likewise' },
          ]}
        />
        <Facts
          title="Behaviour"
          facts={[
            {
              name: 'Win rate',
              value: <FigureText figure={percentFigure(behavior.winrate)} />,
              about: 'of the tokens sold, how many with a profit',
            },
            {
              name: 'Loss rate',
              value: <FigureText figure={percentFigure(behavior.loserate)} />,
              about: 'how many with a loss',
            },
            {
              name: 'Holds for',
              value: <Span seconds={behavior.avg_holding_time} />,
              about: 'mean time from a buy to the sell matched with it',
            },
            {
              name: 'Almost out after',
              value: <Span seconds={behavior.avg_time_to_almost_full_exit} />,
              about: 'mean time from the first buy until 90% are sold',
            },
            { name: 'Mean buy', value: <Sol sol={behavior.avg_buy_amount} /> },
            { name: 'Mean sell', value: <Sol sol={behavior.avg_sell_amount} /> },
            {
              name: 'Quick sells',
              value: count(behavior.quick_sells),
              about: 'buys of which half or more was sold within 15 s',
            },
            {
              name: 'Sold more than bought',
              value: count(behavior.sold_more_than_bought),
              about: 'tokens; the rest came by transfer',
            },
          ]}
        />
      </div>
      <ActivityHours times={behavior.active_times} />
      <p class="about">
        Computed <Time unix={computed_at === 0 ? null : computed_at} />. Trades in USDC and USDT
        count at the SOL price of their time.
      </p>
    </>
  )
}

const STATUSES = {
  scored: '50 to 1000 trades, and not disqualified',
  review: 'fewer than 50 or more than 1000 trades, so there is no score',
  disqualified: 'under 10 SOL, or a loss with a win rate under 35%',
} as const
