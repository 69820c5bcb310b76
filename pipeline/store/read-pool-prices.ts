import type { SolPrice } from '../domain/slot.ts'
import type { Store } from './store.ts'

/**
 * The newest SOL/USD prices of the pool that are stored, at most `limit`, oldest first (rule J7).
 */
export async function readPoolPrices(store: Store, limit: number): Promise<SolPrice[]> {
  const rows = await store.query<{ time: number; usd_e9: string }>(
    `SELECT time, usd_e9 FROM sol_prices FINAL WHERE source = 'pool' ORDER BY time DESC LIMIT {limit:UInt32}`,
    { limit },
  )
  return rows.map(({ time, usd_e9 }) => ({ time, usdE9: BigInt(usd_e9) })).reverse()
}
