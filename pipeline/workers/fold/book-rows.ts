import { coarsen, PRICE_DIGITS } from '../../domain/coarsen.ts'
import type { Lot } from '../../fold/fifo.ts'
import type { TradeSums } from '../../fold/trade-sums.ts'
import { activeHours, servedSums, walletScore } from '../../fold/wallet-metrics.ts'
import type {
  Disposal,
  FirstBuy,
  StateChanges,
  TokenState,
  WalletState,
} from '../../fold/wallet-state.ts'
import type { Row } from '../../store/store.ts'

/** Row of table `lots`. Amounts are raw units, costs lamports. */
export function lotRow(wallet: number, version: bigint, mint: string, lot: Lot): Row {
  return {
    wallet,
    mint,
    slot: lot.slot,
    tx_index: lot.txIndex,
    event_index: lot.eventIndex,
    block_time: lot.time,
    origin: lot.origin,
    amount: lot.amount,
    cost_lamports: lot.cost,
    left_amount: lot.left,
    left_cost_lamports: lot.leftCost,
    quick_sold_amount: lot.quickSold,
    version,
  }
}

/** Row of table `disposals`. */
export function disposalRow(wallet: number, version: bigint, disposal: Disposal): Row {
  const { lot, cost, proceeds } = disposal
  return {
    wallet,
    mint: disposal.mint,
    slot: disposal.slot,
    tx_index: disposal.txIndex,
    event_index: disposal.eventIndex,
    lot_slot: lot.slot,
    lot_tx_index: lot.txIndex,
    lot_event_index: lot.eventIndex,
    kind: disposal.kind,
    block_time: disposal.time,
    lot_time: lot.time,
    lot_origin: lot.origin,
    amount: disposal.amount,
    cost_lamports: cost,
    proceeds_lamports: proceeds,
    profit_lamports: proceeds === null ? null : proceeds - cost,
    version,
  }
}

/**
 * Row of table `first_buys`. With `PRIVACY_SALT` the SOL price has three digits, and so the entry
 * market cap is not exact either (rule I2a).
 */
export function firstBuyRow(wallet: number, version: bigint, buy: FirstBuy, isSalted = false): Row {
  const price = buy.solPriceUsdE9
  return {
    mint: buy.mint,
    wallet,
    slot: buy.slot,
    tx_index: buy.txIndex,
    event_index: buy.eventIndex,
    block_time: buy.blockTime,
    amount: buy.amount,
    value_lamports: buy.value,
    sol_price_usd_e9: isSalted && price !== null ? coarsen(price, PRICE_DIGITS) : price,
    version,
  }
}

/** Row of table `profit_hours`. */
export function profitHourRow(
  wallet: number,
  version: bigint,
  { mint, sums }: StateChanges['profitHours'][number],
): Row {
  return {
    wallet,
    hour: sums.hour,
    mint,
    trades: sums.trades,
    valued_sells: sums.valuedSells,
    volume_lamports: sums.volume,
    realized_lamports: sums.realized,
    strict_realized_lamports: sums.strictRealized,
    version,
  }
}

/** Row of table `positions`. */
export function positionRow(wallet: number, version: bigint, token: TokenState): Row {
  return {
    wallet,
    mint: token.mint,
    decimals: token.decimals,
    buys: token.buys,
    sells: token.sells,
    bought_amount: token.bought,
    sold_amount: token.sold,
    bought_lamports: token.boughtLamports,
    sold_lamports: token.soldLamports,
    first_buy_time: token.firstBuyTime,
    first_trade_time: token.firstTradeTime,
    last_trade_time: token.lastTradeTime,
    open_amount: token.openAmount,
    open_cost_lamports: token.openCost,
    realized_lamports: token.realized,
    valued_sells: token.valuedSells,
    exit_seconds: token.exitSeconds,
    version,
    ...(token.served && servedColumns(token.served)),
  }
}

/**
 * Columns for figures served with `PRIVACY_SALT`. Without a salt their defaults copy the others.
 */
function servedColumns(served: TradeSums): Row {
  return {
    served_bought_amount: served.bought,
    served_sold_amount: served.sold,
    served_bought_lamports: served.boughtLamports,
    served_sold_lamports: served.soldLamports,
    served_first_buy_time: served.firstBuyTime,
    served_first_trade_time: served.firstTradeTime,
    served_last_trade_time: served.lastTradeTime,
  }
}

/**
 * With `PRIVACY_SALT`, `computed_at` is served as a multiple of this. The exact second would reveal
 * when the wallet last traded.
 */
const SALTED_CLOCK_SECONDS = 60

/**
 * Row of table `wallet_metrics`, as it is served (rule I2a). `computedAt`: unix seconds of the
 * wall clock.
 */
export function metricsRow(
  state: WalletState,
  version: bigint,
  computedAt: number,
  isSalted = false,
): Row {
  const sums = servedSums(state, isSalted)
  const { status, scoreE2 } = walletScore(state, sums)
  const seen = state.events > 0
  const clock = isSalted ? computedAt - (computedAt % SALTED_CLOCK_SECONDS) : computedAt
  return {
    wallet: state.wallet,
    status,
    score_e2: scoreE2,
    sol_balance_lamports: sums.balance,
    pnl_lamports: sums.pnl,
    bought_lamports: sums.boughtLamports,
    sold_lamports: sums.soldLamports,
    invested_open_lamports: sums.investedOpen,
    unrealized_token_count: state.openTokens,
    buys: state.buys,
    sells: state.sells,
    transfers_in: state.transfersIn,
    transfers_out: state.transfersOut,
    received_lamports: sums.receivedLamports,
    sent_lamports: sums.sentLamports,
    unique_tokens_traded: state.uniqueTokensTraded,
    tokens_won: state.tokensWon,
    tokens_lost: state.tokensLost,
    tokens_sold_valued: state.tokensSoldValued,
    holding_seconds_sum: sums.holdingSecondsSum,
    holding_matches: state.holdingMatches,
    exit_seconds_sum: sums.exitSecondsSum,
    exit_tokens: state.exitTokens,
    quick_sells: state.quickSells,
    sold_more_than_bought: state.soldMoreThanBought,
    active_times: activeHours(state.hours).map((hour) => ({
      hour_utc: hour.hourUtc,
      tx_count: hour.txCount,
    })),
    events: state.events,
    slot: seen ? state.slot : 0,
    tx_index: state.txIndex,
    event_index: state.eventIndex,
    computed_at: seen || state.balances > 0 ? clock : 0,
    version,
    revision: state.revision,
  }
}
