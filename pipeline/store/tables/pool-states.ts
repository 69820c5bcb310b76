import type { PoolSnapshot } from '../../domain/pool-snapshot.ts'
import { insertRows } from '../insert-rows.ts'
import type { Store } from '../store.ts'

/** Stores states, with the slot of each. A row written again is the same. */
export async function insertPoolStates(
  store: Store,
  states: readonly (PoolSnapshot & { readonly slot: number })[],
): Promise<void> {
  const rows = states.map(({ quoteMint, quoteReserve, price, ...state }) => ({
    ...state,
    quote_mint: quoteMint,
    quote_reserve: quoteReserve,
    price_quote: price.quote,
    price_base: price.base,
  }))
  await insertRows(store, 'pool_states', rows)
}

/**
 * Returns the pool states of these tokens (null: of all) after tick `after` and up to tick
 * `through`, ordered by `at`.
 */
export async function readPoolStates(
  store: Store,
  mints: readonly string[] | null,
  after: number,
  through: number,
): Promise<PoolSnapshot[]> {
  const rows = await store.query<
    { readonly at: number } & Record<'mint' | 'pool' | 'quote_mint', string> &
      Record<'quote_reserve' | 'price_quote' | 'price_base', string>
  >(
    `SELECT at, mint, pool, quote_mint, quote_reserve, price_quote, price_base FROM pool_states FINAL
     WHERE at > {after:UInt32} AND at <= {through:UInt32} ${mints === null ? '' : 'AND mint IN {mints:Array(String)}'}
     ORDER BY at, mint LIMIT 1000000`,
    { after: Math.max(0, after), through, ...(mints && { mints }) },
  )
  return rows.map((row) => ({
    at: row.at,
    mint: row.mint,
    pool: row.pool,
    quoteMint: row.quote_mint,
    quoteReserve: BigInt(row.quote_reserve),
    price: { quote: BigInt(row.price_quote), base: BigInt(row.price_base) },
  }))
}
