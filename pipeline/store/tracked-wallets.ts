import type { Address } from '../domain/address.ts'
import type { Store } from './store.ts'

/** Addresses of the tracked wallets as stored, `W1` first. */
export async function readTrackedWallets(store: Store): Promise<Address[]> {
  const rows = await store.query<{ address: Address }>(
    'SELECT address FROM tracked_wallets FINAL ORDER BY wallet LIMIT 10000000',
  )
  return rows.map((row) => row.address)
}

/**
 * Stores the wallets that are new at the end of `addresses`, and a row of metrics for every wallet
 * that has none, so that it is listed before its first event (rule C21). `known` is what
 * `readTrackedWallets` gave and has been checked to be how `addresses` begins. Doing it twice is
 * doing it once.
 */
export async function addTrackedWallets(
  store: Store,
  addresses: readonly Address[],
  known: readonly Address[],
  nowSeconds: number,
): Promise<void> {
  const rows = addresses.slice(known.length).map((address, place) => ({
    wallet: known.length + place + 1,
    address,
    added_at: nowSeconds,
  }))
  await store.insert('tracked_wallets', rows)
  await addEmptyMetrics(store)
}

/** Gives every tracked wallet without a row of metrics the row of a wallet without events. */
export async function addEmptyMetrics(store: Store): Promise<void> {
  await store.command(
    `INSERT INTO wallet_metrics (wallet)
     SELECT wallet FROM tracked_wallets FINAL WHERE wallet NOT IN (SELECT wallet FROM wallet_metrics)`,
  )
}
