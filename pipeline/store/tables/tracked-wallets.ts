import type { Address } from '../../domain/address.ts'
import type { Store } from '../store.ts'

/** Subquery: number and address of each tracked wallet. Rows never change. */
export const TRACKED = 'SELECT wallet, address FROM tracked_wallets FINAL'

/** Subquery: the highest number of a tracked wallet. Wallets are numbered from 1. */
export const NEWEST_WALLET = 'SELECT max(wallet) FROM tracked_wallets'

/** Returns the highest number of a tracked wallet; 0 without any. */
export async function newestWallet(store: Store): Promise<number> {
  const [row] = await store.query<{ wallet: number }>(`SELECT (${NEWEST_WALLET}) AS wallet`)
  return row?.wallet ?? 0
}

/** Returns the addresses of the tracked wallets, `W1` first. */
export async function readTrackedWallets(store: Store): Promise<Address[]> {
  const rows = await store.query<{ address: Address }>(
    'SELECT address FROM tracked_wallets FINAL ORDER BY wallet LIMIT 10000000',
  )
  return rows.map((row) => row.address)
}

/** Returns the addresses of some tracked wallets, by number. */
export async function readAddresses(
  store: Store,
  wallets: readonly number[],
): Promise<ReadonlyMap<number, Address>> {
  const rows = await store.query<{ wallet: number; address: Address }>(
    `SELECT wallet, address FROM tracked_wallets FINAL
     WHERE wallet IN {wallets:Array(UInt32)} LIMIT 10000000`,
    { wallets },
  )
  return new Map(rows.map(({ wallet, address }) => [wallet, address]))
}

/**
 * Stores the new wallets at the end of `addresses`, and an empty row of `wallet_metrics` for every
 * wallet without one, so that it is listed before its first event (rule C21). `known` must be what
 * `readTrackedWallets` returned, and `addresses` must begin with it. Idempotent.
 */
export async function addTrackedWallets(
  store: Store,
  addresses: readonly Address[],
  known: readonly Address[],
  nowSeconds: number,
): Promise<void> {
  const rows = addresses.slice(known.length).map((address, index) => ({
    wallet: known.length + index + 1,
    address,
    added_at: nowSeconds,
  }))
  await store.insert('tracked_wallets', rows)
  await addEmptyMetrics(store)
}

/** Stores an empty row of `wallet_metrics` for every tracked wallet without a row. */
export async function addEmptyMetrics(store: Store): Promise<void> {
  await store.command(
    `INSERT INTO wallet_metrics (wallet)
     SELECT wallet FROM tracked_wallets FINAL WHERE wallet NOT IN (SELECT wallet FROM wallet_metrics)`,
  )
}
