import type { SolPrice } from '../../domain/slot.ts'
import type { Store } from '../../store/store.ts'

/** Prices compared, and written, at once. */
const PRICES_AT_ONCE = 20_000

/**
 * Stores the prices of `SOL_PRICES_FILE` with their source (rule J7); what is stored already costs a look and no row, so that each process that is given
 * the file may do it at each start. `prices` in order of time, one a second. A price that the file gives another value for than it once did is replaced;
 * what swaps were valued at is not (rule C1). Gives how many were new.
 */
export async function storeSolPriceFile(
  store: Store,
  prices: readonly SolPrice[],
): Promise<number> {
  let stored = 0
  for (let at = 0; at < prices.length; at += PRICES_AT_ONCE) {
    const some = prices.slice(at, at + PRICES_AT_ONCE)
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
