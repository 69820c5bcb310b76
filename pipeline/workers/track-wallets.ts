import type { Address } from '../domain/address.ts'
import { checkWalletsKept } from '../ingest/wallets-file.ts'
import type { Store } from '../store/store.ts'
import { addTrackedWallets, readTrackedWallets } from '../store/tracked-wallets.ts'

/**
 * Makes the addresses the tracked wallets, `W1` first: those that table `tracked_wallets` does not know yet are added. Rejects with `bad_wallets_file`, and
 * with nothing written, when a wallet that it knows has changed or is gone (decisions J2). Gives how many were added.
 */
export async function trackWallets(
  store: Store,
  addresses: readonly Address[],
  file: string,
  now: () => number = Date.now,
): Promise<number> {
  const known = await readTrackedWallets(store)
  checkWalletsKept(addresses, known, file)
  await addTrackedWallets(store, addresses, known, Math.floor(now() / 1000))
  return addresses.length - known.length
}
