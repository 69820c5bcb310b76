/** Which mark says that a day of a table is complete. */
export type ExportMark = 'storage' | 'rollups' | 'ticks'

/** A view of analysts whose rows belong to days. */
export interface ExportTable {
  /** The view, with the parameters `{from:UInt32}` and `{to:UInt32}`: the seconds of the day. */
  readonly source: string
  /** Selects the rows of the day, with the same parameters. */
  readonly condition: string
  /** Columns that order the rows: the key of the view, so that there are no ties. */
  readonly order: string
  readonly mark: ExportMark
}

function byTime(
  source: string,
  time: string,
  key: string,
  mark: ExportMark = 'storage',
): ExportTable {
  return {
    source,
    condition: `${time} >= {from:UInt32} AND ${time} < {to:UInt32}`,
    order: `${time}, ${key}`,
    mark,
  }
}

/**
 * The tables that `operator export` writes (rule M4), by name. Views without a time (metrics,
 * coverage, mints) have only a present, which no day has. `positions` are those at the last second
 * of the day.
 */
export const EXPORT_TABLES: Readonly<Record<string, ExportTable>> = {
  swaps: byTime('swaps', 'block_time', 'event_id'),
  transfers: byTime('transfers', 'block_time', 'event_id'),
  sol_transfers: byTime('sol_transfers', 'block_time', 'event_id'),
  sol_balances: byTime('sol_balances', 'block_time', 'event_id'),
  lots: byTime('lots', 'block_time', 'event_id'),
  disposals: byTime('disposals', 'block_time', 'event_id, lot_event_id'),
  first_buys: byTime('first_buys', 'block_time', 'wallet_number, mint'),
  positions: {
    source: 'positions_at(at = {to:UInt32} - 1)',
    condition: '{from:UInt32} < {to:UInt32}',
    order: 'wallet_number, mint',
    mark: 'storage',
  },
  sol_prices: byTime('sol_prices', 'time', 'source'),
  token_prices: byTime('token_prices', 'minute', 'mint'),
  wallet_days: {
    source: 'wallet_days',
    condition: "day = toDate(toDateTime({from:UInt32}, 'UTC')) AND {from:UInt32} < {to:UInt32}",
    order: 'wallet_number',
    mark: 'rollups',
  },
  pnl_hours: byTime('pnl_hours', 'hour', 'wallet_number'),
  token_hours: byTime('token_hours', 'hour', 'mint', 'rollups'),
  watchlist: byTime('watchlist', 'at', 'mint, entry', 'ticks'),
  signals: byTime('signals', 'fired_at', 'strategy, mint, entry', 'ticks'),
}
