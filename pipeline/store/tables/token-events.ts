import type { Store } from '../store.ts'
import {
  EVENT_COLUMNS,
  EVENT_KEY,
  type EventKeyRow,
  type EventRow,
  rowKeyText,
} from './event-rows.ts'
import { DECIMALS_OF_MINTS } from './mints.ts'

/** Bounds a query; never reached. */
const MOST_ROWS = 10_000_000

/** An event of a token: a row of `swaps` or `transfers`, in any version. */
export interface TokenEventRow extends EventRow<'buy' | 'sell' | 'token_in' | 'token_out'> {
  /** Address of the pool of a swap; '' if unknown, and for transfers. */
  readonly pool: string
  readonly version: string
  readonly is_deleted: number
}

const SWAP_COLUMNS = `${EVENT_KEY}, block_time, ${EVENT_COLUMNS.swaps}, version, is_deleted`
const COLUMNS = {
  swaps: `${SWAP_COLUMNS}, pool`,
  transfers: `${EVENT_KEY}, block_time, ${EVENT_COLUMNS.transfers}, '' AS pool, version, is_deleted`,
}

/** Returns the first `limit` rows of a table from slot `from` to slot `to`, in event-key order. */
export function readEventRows(
  store: Store,
  table: keyof typeof COLUMNS,
  bounds: { readonly from: number; readonly to: number; readonly limit?: number },
): Promise<TokenEventRow[]> {
  return store.query<TokenEventRow>(
    `SELECT ${COLUMNS[table]} FROM ${table} WHERE slot >= {from:UInt64} AND slot <= {to:UInt64}
     ORDER BY slot, tx_index, wallet, event_index LIMIT {limit:UInt32} SETTINGS optimize_use_projections = 0`,
    { limit: MOST_ROWS, ...bounds },
  )
}

/**
 * Returns all swap rows of these mints up to slot `to`. Their `pool` is '' up to slot `poolsAfter`,
 * also where it is stored.
 */
export async function readSwapRowsOfMints(
  store: Store,
  mints: readonly string[],
  bounds: { readonly poolsAfter: number; readonly to: number },
): Promise<TokenEventRow[]> {
  const params = { mints, to: Math.max(0, bounds.to) }
  const [swaps, pools] = await Promise.all([
    store.query<TokenEventRow>(SWAPS_OF_MINTS, params),
    store.query<EventKeyRow & { readonly pool: string }>(POOLS_OF_SWAPS, {
      ...params,
      from: Math.max(0, bounds.poolsAfter),
    }),
  ])
  const poolOf = new Map(pools.map((row) => [rowKeyText(row), row.pool]))
  return swaps.map((row) => {
    const pool = poolOf.get(rowKeyText(row))
    return pool === undefined ? row : { ...row, pool }
  })
}

/** Returns all transfer rows of these mints up to slot `to`, in no order. */
export function readTransferRowsOfMints(store: Store, mints: readonly string[], to: number) {
  return store.query<TokenEventRow>(
    `SELECT ${COLUMNS.transfers} FROM transfers WHERE mint IN {mints:Array(String)} AND slot <= {to:UInt64} LIMIT ${MOST_ROWS}
     SETTINGS optimize_use_projections = 0`,
    { mints, to: Math.max(0, to) },
  )
}

// Projection `by_mint` has no pools, so `POOLS_OF_SWAPS` reads them in the table's own order.
const SWAPS_OF_MINTS = `
  SELECT ${SWAP_COLUMNS}, '' AS pool FROM swaps WHERE base_mint IN {mints:Array(String)} AND slot <= {to:UInt64}
  ORDER BY base_mint, ${EVENT_KEY} LIMIT ${MOST_ROWS}`
const POOLS_OF_SWAPS = `
  SELECT ${EVENT_KEY}, argMax(swaps.pool, version) AS pool FROM swaps
  WHERE slot > {from:UInt64} AND slot <= {to:UInt64} AND base_mint IN {mints:Array(String)} GROUP BY ${EVENT_KEY} HAVING pool != '' LIMIT ${MOST_ROWS}
  SETTINGS optimize_use_projections = 0`

/**
 * Returns the newest slot with a swap or transfer at or before a unix second; -1 if there is none.
 */
export async function newestSlotAt(store: Store, time: number): Promise<number> {
  const newest = (table: keyof typeof COLUMNS) =>
    store.query<{ slot: string }>(
      `SELECT slot FROM ${table} WHERE block_time <= {time:UInt32} ORDER BY slot DESC LIMIT 1 SETTINGS optimize_use_projections = 0`,
      { time: Math.max(0, time) },
    )
  const [[swap], [transfer]] = await Promise.all([newest('swaps'), newest('transfers')])
  return Math.max(Number(swap?.slot ?? -1), Number(transfer?.slot ?? -1))
}

/** Returns the decimals of those mints that `mints` (facts from RPC) or a stored event knows. */
export async function readDecimals(store: Store, mints: readonly string[]) {
  const rows = await store.query<{ mint: string; known: number }>(DECIMALS, { mints })
  return new Map(rows.map(({ mint, known }) => [mint, known]))
}

const DECIMALS = `
  SELECT mint, any(decimals) AS known
  FROM (
    ${DECIMALS_OF_MINTS}
    UNION ALL
    SELECT base_mint AS mint, base_decimals AS decimals FROM swaps WHERE base_mint IN {mints:Array(String)}
    UNION ALL
    SELECT mint, decimals FROM transfers WHERE mint IN {mints:Array(String)}
  )
  GROUP BY mint`

/** Subquery: what events of a wallet change, by transaction and mint, from a slot to another. */
export const EVENT_CHANGES = `
  SELECT slot, tx_index, mint, sum(amount) AS change FROM (
    SELECT slot, tx_index, base_mint AS mint, if(side = 'buy', 1, -1) * toInt256(base_amount) AS amount FROM swaps FINAL
    WHERE wallet = {wallet:UInt32} AND slot > {from:UInt64} AND slot <= {to:UInt64}
    UNION ALL
    SELECT slot, tx_index, mint, if(direction = 'in', 1, -1) * toInt256(amount) FROM transfers FINAL
    WHERE wallet = {wallet:UInt32} AND slot > {from:UInt64} AND slot <= {to:UInt64}
  ) GROUP BY slot, tx_index, mint`
