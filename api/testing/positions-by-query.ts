import type { QueryParams, Store } from '../../pipeline/store/store.ts'
import type {
  HeldPositionRow,
  HeldTokenRow,
  PageOf,
} from '../../pipeline/store/tables/positions.ts'

/*
 * The lists of `OpenPositions`, by queries of the table.
 */

/**
 * Reads mints held by at least `minWallets` wallets: by number of wallets, then SOL spent, both
 * descending, then mint (rule C17).
 */
export async function readHeldTokens(
  store: Store,
  { blockTime: now }: { readonly blockTime: number },
  page: { readonly minWallets: number; readonly offset: number; readonly limit: number },
): Promise<PageOf<HeldTokenRow>> {
  const params = { now, ...page }
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
  { blockTime: now }: { readonly blockTime: number },
  filter: {
    readonly wallet: number | null
    readonly minSeconds: number
    readonly maxSeconds: number | null
  },
  page: { readonly offset: number; readonly limit: number },
): Promise<PageOf<HeldPositionRow>> {
  const { wallet, maxSeconds } = filter
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
    `SELECT wallet, mint, decimals, served_bought_amount AS bought_amount, served_sold_amount AS sold_amount,
       served_bought_lamports AS bought_lamports, served_sold_lamports AS sold_lamports,
       served_first_trade_time AS first_trade_time, served_last_trade_time AS last_trade_time,
       toUInt32(count() OVER ()) AS total
     FROM positions FINAL WHERE ${conditions}
     ORDER BY last_trade_time DESC, mint, wallet LIMIT {limit:UInt32} OFFSET {offset:UInt32}`,
    `SELECT toUInt32(count()) AS total FROM positions FINAL WHERE ${conditions}`,
    { now, ...filter, ...page },
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
  params: QueryParams & { readonly offset: number },
): Promise<PageOf<T>> {
  const rows = await store.query<T & { readonly total: number }>(rowsSql, params)
  const [first] = rows
  if (first !== undefined) return { rows, total: first.total }
  if (params.offset === 0) return { rows, total: 0 }
  const [counted] = await store.query<{ readonly total: number }>(totalSql, params)
  return { rows, total: counted?.total ?? 0 }
}
