import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { WalletEvent } from '../../pipeline/domain/event.ts'
import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import { Rational } from '../../pipeline/testing/rational.ts'
import { slowEvent } from '../../pipeline/testing/slow-events.ts'
import type { PriceAt } from '../../pipeline/testing/slow-profit.ts'
import type { SlowRow } from '../../pipeline/testing/slow-tables.ts'
import {
  byActivity,
  type FactsByMint,
  type Item,
  inSol,
  inTokens,
  isHeld,
  oneAnswer,
  pctHeld,
  type SlowAnswer,
  type Traded,
  timingOf,
  tokenField,
  tradedOf,
  tradesAnswer,
} from './slow-answer.ts'
import { slowProfitAnswers } from './slow-profit-answers.ts'

/** What the answers about a wallet follow from. */
export interface WalletInputs {
  /** All its events, in any order, each swap with its price. */
  readonly events: readonly WalletEvent[]
  /** Its row of `wallet_metrics`, as `slowTables` makes it. */
  readonly metrics: SlowRow
  readonly facts: FactsByMint
  /** Block time of the newest stored slot. */
  readonly now: number
  /** Prices of tokens for this wallet (rule L5). */
  readonly priceAt: PriceAt
}

/** What every resource of one wallet must answer. */
export function slowWalletAnswers(wallet: number, inputs: WalletInputs): SlowAnswer[] {
  const { metrics, facts, now, priceAt } = inputs
  const events = [...inputs.events].sort(compareEventKeys)
  const swaps = events.flatMap((event) => (event.kind === 'swap' ? [event] : []))
  const alias = aliasOf(wallet)
  const held = [...new Set(swaps.map(({ baseMint }) => baseMint))]
    .flatMap((mint) => tradedOf(wallet, mint, swaps) ?? [])
    .filter(isHeld)
    .sort(byActivity)
  const tokens = held.map((position) => walletHolding(position, now))
  return [
    tradesAnswer(`/wallets/${alias}/trades?limit=50`, swaps.toReversed(), facts),
    oneAnswer(`/wallets/${alias}/metrics`, metricsItem(metrics)),
    oneAnswer(`/wallets/${alias}/holdings`, { wallet: alias, tokens }),
    holdingsAnswer({ alias, least: 0, most: null }, held, now),
    ...slowProfitAnswers(wallet, { events: events.map(slowEvent), priceAt, facts, now }),
  ]
}

function walletHolding(position: Traded, now: number): Item {
  const { bought, sold, spent, decimals } = position
  const held = inTokens(bought - sold, decimals)
  return {
    token: tokenField(position),
    position: {
      balance: held,
      tokens_acquired: inTokens(bought, decimals),
      tokens_held: held,
      sol_invested: inSol(spent),
    },
    timing: timingOf(position, now),
  }
}

/** Which positions `GET /wallets/holdings` has. */
export interface HoldingsFilter {
  readonly alias: string | null
  readonly least: number
  readonly most: number | null
}

/** `GET /wallets/holdings` with filters; ages are in seconds, both bounds inclusive (rule C22). */
export function holdingsAnswer(
  filter: HoldingsFilter,
  held: readonly Traded[],
  now: number,
): SlowAnswer {
  const { alias, least, most } = filter
  const items = held
    .filter(({ wallet }) => alias === null || aliasOf(wallet) === alias)
    .filter(({ first }) => now - first >= least && (most === null || now - first <= most))
    .map((position) => holding(position, now))
  const query = new URLSearchParams()
  if (alias !== null) query.set('alias', alias)
  if (least > 0) query.set('min_holding_seconds', String(least))
  if (most !== null) query.set('max_holding_seconds', String(most))
  return {
    path: `/wallets/holdings?${query}`,
    paging: 'page',
    fields: {
      alias,
      min_holding_seconds: least,
      max_holding_seconds: most,
      page_size: 100,
      total: items.length,
    },
    items,
  }
}

/** An item of `GET /wallets/holdings`. */
export function holding(position: Traded, now: number): Item {
  const { wallet, bought, sold, spent, received, decimals } = position
  return {
    wallet: aliasOf(wallet),
    token: tokenField(position),
    position: {
      sol_bought: inSol(spent),
      sol_sold: inSol(received),
      tokens_acquired: inTokens(bought, decimals),
      tokens_sold: inTokens(sold, decimals),
      tokens_held: inTokens(bought - sold, decimals),
      pct_held: pctHeld(position),
    },
    timing: timingOf(position, now),
  }
}

/** An item of `GET /wallets`, without its period. */
export function metricsItem(row: SlowRow): Item {
  const of = (name: string) => BigInt(row[name] as bigint | number) // a column of integers
  const sol = (name: string) => inSol(of(name))
  const mean = (over: bigint, under: bigint) =>
    under === 0n ? null : new Rational(over, under).toNumber()
  const { sol_balance_lamports: balance, score_e2: score } = row
  return {
    identity: {
      wallet: aliasOf(Number(row.wallet)),
      tracked: true,
      score: score === null ? null : new Rational(of('score_e2'), 100n).toNumber(),
      status: row.status,
    },
    pnl: {
      sol_balance: balance === null ? null : sol('sol_balance_lamports'),
      pnl_sol: sol('pnl_lamports'),
      sol_bought: sol('bought_lamports'),
      sol_sold: sol('sold_lamports'),
      sol_invested_open: sol('invested_open_lamports'),
      unrealized_token_count: row.unrealized_token_count,
    },
    activity: {
      total_trades: Number(of('buys') + of('sells')),
      buys: row.buys,
      sells: row.sells,
      transfers_in: row.transfers_in,
      transfers_out: row.transfers_out,
      sol_received: sol('received_lamports'),
      sol_sent: sol('sent_lamports'),
      unique_tokens_traded: row.unique_tokens_traded,
    },
    behavior: {
      winrate: mean(100n * of('tokens_won'), of('tokens_sold_valued')),
      loserate: mean(100n * of('tokens_lost'), of('tokens_sold_valued')),
      avg_holding_time: mean(of('holding_seconds_sum'), of('holding_matches')),
      avg_time_to_almost_full_exit: mean(of('exit_seconds_sum'), of('exit_tokens')),
      avg_buy_amount: mean(of('bought_lamports'), 10n ** 9n * of('buys')),
      avg_sell_amount: mean(of('sold_lamports'), 10n ** 9n * of('sells')),
      quick_sells: row.quick_sells,
      sold_more_than_bought: row.sold_more_than_bought,
      active_times: row.active_times,
    },
  }
}
