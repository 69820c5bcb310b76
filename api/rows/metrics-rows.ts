import type { Store } from '../../pipeline/store/store.ts'
import type { WalletMetricsRow } from '../items/wallet-metrics.ts'

/** The newest metrics of wallets number `from` to `to`, by number; wallets of which nothing is stored are left out. */
export async function readMetricsRows(
  store: Store,
  from: number,
  to: number,
): Promise<Map<number, WalletMetricsRow>> {
  const rows = await store.query<WalletMetricsRow>(METRICS, { from, to })
  return new Map(rows.map((row) => [row.wallet, row]))
}

const METRICS = `
  SELECT wallet, status, score_e2, sol_balance_lamports, pnl_lamports, bought_lamports, sold_lamports, invested_open_lamports,
    unrealized_token_count, buys, sells, transfers_in, transfers_out, received_lamports, sent_lamports, unique_tokens_traded,
    tokens_won, tokens_lost, tokens_sold_valued, holding_seconds_sum, holding_matches, exit_seconds_sum, exit_tokens, quick_sells,
    sold_more_than_bought, active_times, computed_at
  FROM wallet_metrics FINAL WHERE wallet BETWEEN {from:UInt32} AND {to:UInt32} LIMIT 1000`
