/**
 * Tables whose rows follow from the chain, each with the columns that identify and order its rows.
 */
export const TABLE_KEYS = {
  swaps: 'slot, tx_index, wallet, event_index',
  transfers: 'slot, tx_index, wallet, event_index',
  sol_transfers: 'slot, tx_index, wallet, event_index',
  sol_balances: 'wallet, slot, tx_index',
  token_links: 'wallet, account, slot, tx_index',
  undecoded: 'slot, tx_index, wallet',
  transactions: 'slot, tx_index',
  lots: 'wallet, mint, slot, tx_index, event_index',
  disposals: 'wallet, mint, slot, tx_index, event_index, lot_slot, lot_tx_index, lot_event_index',
  positions: 'wallet, mint',
  first_buys: 'mint, wallet',
  profit_hours: 'wallet, hour, mint',
  wallet_metrics: 'wallet',
  sol_prices: 'time, source',
} as const
