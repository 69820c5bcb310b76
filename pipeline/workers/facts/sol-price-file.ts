import type { SolPrice } from '../../domain/slot.ts'
import type { Store } from '../../store/store.ts'

/** Prices compared and written together. */
const PRICES_PER_INSERT = 20_000

/**
 * Stores the prices of `SOL_PRICES_FILE` (rule J7) and returns how many were new. `prices` are in
 * order of time, at most one a second. Idempotent: prices that are stored already cost a query and
 * no row, so every process may load the file at every start. A changed price replaces the stored
 * one, but not the price that a swap already has (rule C1).
 */
export async function storeSolPriceFile(
  store: Store,
  prices: readonly SolPrice[],
): Promise<number> {
  let stored = 0
  for (let at = 0; at < prices.length; at += PRICES_PER_INSERT) {
    const some = prices.slice(at, at + PRICES_PER_INSERT)
    const rows = await store.query<{ time: number; usd_e9: string }>(
      `SELECT time, usd_e9 FROM sol_prices FINAL WHERE source = 'file' AND time BETWEEN {from:UInt32} AND {to:UInt32}
       ORDER BY time LIMIT 100000000`,
      { from: some[0]?.time ?? 0, to: some.at(-1)?.time ?? 0 },
    )
    const known = new Map(rows.map((row) => [row.time, row.usd_e9]))
    const fresh = some.filter(({ time, usdE9 }) => known.get(time) !== usdE9.toString())
    await store.insert(
      'sol_prices',
      fresh.map(({ time, usdE9 }) => ({ time, source: 'file', usd_e9: usdE9 })),
    )
    stored += fresh.length
  }
  return stored
}
