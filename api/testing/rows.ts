import { WSOL } from '../../pipeline/domain/quote.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'

/** A row of `swaps`: by default a buy of 5 raw units for 0.5 SOL. */
export function aSwapRow(slot: number, rest: Row = {}): Row {
  return {
    slot,
    tx_index: 0,
    wallet: 1,
    event_index: 0,
    block_time: 1_700_000_000 + slot,
    signature: 'never published',
    side: 'buy',
    base_mint: MINT,
    base_amount: '5',
    base_decimals: 6,
    quote_mint: WSOL,
    quote_amount: '500000000',
    program: 'pumpswap',
    program_id: 'never published either',
    confidence: 'high',
    quote_mismatch: false,
    fee_lamports: '0',
    sol_price_usd_e9: null,
    value_lamports: '500000000',
    ...rest,
  }
}

export const MINT = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'

/** Sets the storage marker: all of the slot is stored. */
export async function markStored(
  store: Store,
  slot: number,
  partitions = 2,
  blockTime = 1_700_000_000 + slot,
): Promise<void> {
  const rows = Array.from({ length: partitions }, (_, partition) => ({
    worker: 'fold',
    partition,
    partitions,
    slot,
    parent: slot - 1,
    block_time: blockTime,
    sol_price_time: null,
    sol_price_usd_e9: null,
  }))
  await store.insert('progress', rows)
}

/** Tracks wallets 1 to `count`. */
export async function insertWallets(store: Store, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    wallet: index + 1,
    address: `never published ${index}`,
    added_at: 1_700_000_000,
  }))
  await store.insert('tracked_wallets', rows)
}

/**
 * A row of `positions`: by default 10 tokens of 6 decimals bought for 2 SOL in one buy, nothing
 * sold.
 */
export function aPositionRow(wallet: number, mint: string, rest: Row = {}): Row {
  return {
    wallet,
    mint,
    decimals: 6,
    buys: '1',
    sells: '0',
    bought_amount: '10000000',
    sold_amount: '0',
    bought_lamports: '2000000000',
    sold_lamports: '0',
    first_buy_time: 1_700_000_010,
    first_trade_time: 1_700_000_010,
    last_trade_time: 1_700_000_010,
    open_amount: '10000000',
    open_cost_lamports: '2000000000',
    realized_lamports: '0',
    valued_sells: '0',
    exit_seconds: null,
    version: '1',
    ...rest,
  }
}

/** Columns of `watchlist` for a held token whose figures did not change within the hour. */
export const QUIET_TOKEN: Row = {
  mcap_change_pct: 0,
  mcap_trend: 'flat',
  holders_change_pct: 0,
  holders_trend: 'flat',
  volume1h: 0,
  volume1h_change_pct: 0,
  volume1h_trend: 'flat',
  liquidity: null,
  liquidity_change_pct: 0,
  liquidity_trend: 'flat',
  state: 'holding',
  near_evict: false,
}
