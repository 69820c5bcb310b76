import type { Address } from '../../domain/address.ts'
import { checkWalletsKept } from '../../ingest/wallets-file.ts'
import type { Store } from '../../store/store.ts'
import { addTrackedWallets, readTrackedWallets } from '../../store/tracked-wallets.ts'

export interface TrackOptions {
  /** Lines of the addresses in the file. */
  readonly lines?: readonly number[]
  readonly now?: () => number
  /** Whether the first wallets of an installation join too: else nobody fetches their history unasked. */
  readonly allJoin?: boolean
  /** Told, before they are tracked, of wallets that join others. */
  readonly onJoining?: (wallets: readonly number[]) => Promise<void>
}

/**
 * Makes the addresses the tracked wallets, `W1` first: those that table `tracked_wallets` does not know yet are added. Rejects with `bad_wallets_file`, and
 * with nothing written, when a wallet that it knows has changed or is gone (rule J2). Gives how many were added.
 */
export async function trackWallets(
  store: Store,
  addresses: readonly Address[],
  file: string,
  { lines, now = Date.now, allJoin = false, onJoining }: TrackOptions = {},
): Promise<number> {
  const known = await readTrackedWallets(store)
  checkWalletsKept(addresses, known, file, lines)
  const added = addresses.slice(known.length).map((_, at) => known.length + at + 1)
  if ((known.length > 0 || allJoin) && added.length > 0) await onJoining?.(added)
  await addTrackedWallets(store, addresses, known, Math.floor(now() / 1000))
  return added.length
}

/** Rejects as `trackWallets` would, and writes nothing: fit for a database whose schema is still to be made or brought up to date. */
export async function checkWallets(
  store: Store,
  addresses: readonly Address[],
  file: string,
  lines?: readonly number[],
): Promise<void> {
  const [table] = await store.query<{ found: number }>(
    "SELECT count() > 0 AS found FROM system.tables WHERE database = currentDatabase() AND name = 'tracked_wallets'",
  )
  if (table?.found) checkWalletsKept(addresses, await readTrackedWallets(store), file, lines)
}
