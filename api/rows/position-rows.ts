import type { Address } from '../../pipeline/domain/address.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { HeldTokenRow } from '../items/held-token.ts'
import type { HeldPositionRow } from '../items/holding.ts'
import type { TradedPositionRow } from '../items/wallet-aggregate.ts'
import type { StoredSlot } from '../storage-position.ts'
import { SERVED_SUMS, SERVED_TIMES } from './served-columns.ts'

/** A page of a list. */
export interface PageOf<T> {
  readonly rows: readonly T[]
  /** Number of rows of the whole list. */
  readonly total: number
}

/** The largest number of rows of an answer. A mint has at most one row per wallet. */
export const MOST_ROWS = 100_000

/**
 * Reads one row for each wallet that swapped the mint, by first buy (null last), then wallet (rule
 * C17).
 */
export function readMintPositions(store: Store, mint: Address): Promise<TradedPositionRow[]> {
  return store.query<TradedPositionRow>(MINT_POSITIONS, { mint })
}

// FINAL would read the whole table of positions, and takes twice as long over first buys. So the
// newest row of each wallet is selected here (see `infra/decisions/read-orders.md`).
const MINT_POSITIONS = `
  SELECT wallet, buys, sells, bought_amount, sold_amount, bought_lamports, sold_lamports, first_buy_time, last_trade_time,
    first.amount AS first_amount, first.value_lamports AS first_value_lamports, first.sol_price_usd_e9 AS first_sol_price_usd_e9,
    (SELECT supply FROM mints FINAL WHERE mint = {mint:String}) AS supply
  FROM (
    SELECT wallet, buys, sells, ${SERVED_SUMS}, served_first_buy_time AS first_buy_time,
      served_last_trade_time AS last_trade_time, is_deleted
    FROM positions WHERE mint = {mint:String} ORDER BY mint, wallet, version DESC LIMIT 1 BY mint, wallet
  ) AS position
  LEFT JOIN (
    SELECT wallet, amount, value_lamports, sol_price_usd_e9 FROM (
      SELECT wallet, amount, value_lamports, sol_price_usd_e9, is_deleted
      FROM first_buys WHERE mint = {mint:String} ORDER BY mint, wallet, version DESC LIMIT 1 BY mint, wallet
    ) WHERE is_deleted = 0
  ) AS first USING (wallet)
  WHERE is_deleted = 0 AND buys + sells > 0
  ORDER BY first_buy_time ASC NULLS LAST, wallet LIMIT ${MOST_ROWS}`

/**
 * Reads mints held by at least `minWallets` wallets: by number of wallets, then SOL spent, both
 * descending, then mint (rule C17).
 */
export async function readHeldTokens(
  store: Store,
  stored: StoredSlot,
  page: { readonly minWallets: number; readonly offset: number; readonly limit: number },
): Promise<PageOf<HeldTokenRow>> {
  const params = { now: stored.blockTime, ...page }
  const groups = (columns: string) => `
    SELECT ${columns} FROM positions FINAL WHERE ${HELD}
    GROUP BY mint HAVING count() >= {minWallets:UInt32}`
  return readPage<HeldTokenRow>(
    store,
    `${groups(`mint, any(decimals) AS decimals, arraySort(groupArray(wallet)) AS wallets, toString(sum(toInt256(served_bought_amount) - toInt256(served_sold_amount))) AS held_amount,
      toString(sum(served_bought_lamports)) AS bought_lamports, toUInt32(count() OVER ()) AS total`)}
    ORDER BY count() DESC, sum(served_bought_lamports) DESC, mint LIMIT {limit:UInt32} OFFSET {offset:UInt32}`,
    `SELECT toUInt32(count()) AS total FROM (${groups('mint')})`,
    params,
  )
}

/**
 * Reads open positions of one wallet or of all (null), held for a time within bounds: by newest
 * trade descending, then mint, then wallet (rules C17, C22).
 */
export async function readHoldings(
  store: Store,
  stored: StoredSlot,
  filter: {
    readonly wallet: number | null
    readonly minSeconds: number
    readonly maxSeconds: number | null
  },
  page: { readonly offset: number; readonly limit: number },
): Promise<PageOf<HeldPositionRow>> {
  const { wallet, minSeconds, maxSeconds } = filter
  const conditions = [
    HELD,
    'served_first_trade_time + {minSeconds:UInt64} <= {now:UInt32}',
    ...(maxSeconds === null
      ? []
      : ['served_first_trade_time + {maxSeconds:UInt64} >= {now:UInt32}']),
    ...(wallet === null ? [] : ['wallet = {wallet:UInt32}']),
  ].join(' AND ')
  return readPage<HeldPositionRow>(
    store,
    `SELECT wallet, mint, decimals, ${SERVED_SUMS}, ${SERVED_TIMES},
       toUInt32(count() OVER ()) AS total
     FROM positions FINAL WHERE ${conditions}
     ORDER BY last_trade_time DESC, mint, wallet LIMIT {limit:UInt32} OFFSET {offset:UInt32}`,
    `SELECT toUInt32(count()) AS total FROM positions FINAL WHERE ${conditions}`,
    {
      now: stored.blockTime,
      minSeconds,
      ...page,
      ...(maxSeconds !== null && { maxSeconds }),
      ...(wallet !== null && { wallet }),
    },
  )
}

/**
 * The position is open, counting swaps only, and was first traded at or before the marker: one
 * worker may be ahead of the others.
 */
const HELD = 'served_bought_amount > served_sold_amount AND served_first_trade_time <= {now:UInt32}'

/** Reads a page with its total. An empty page past the first needs a second query for the total. */
async function readPage<T>(
  store: Store,
  rowsSql: string,
  totalSql: string,
  params: Readonly<Record<string, unknown>> & { readonly offset: number },
): Promise<PageOf<T>> {
  const rows = await store.query<T & { readonly total: number }>(rowsSql, params)
  const [first] = rows
  if (first !== undefined) return { rows, total: first.total }
  if (params.offset === 0) return { rows, total: 0 }
  const [counted] = await store.query<{ readonly total: number }>(totalSql, params)
  return { rows, total: counted?.total ?? 0 }
}
