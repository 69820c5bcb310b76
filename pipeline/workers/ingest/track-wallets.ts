import type { Address } from '../../domain/address.ts'
import { checkWalletsKept } from '../../ingest/wallets-file.ts'
import { hasTable } from '../../store/migrate.ts'
import type { Store } from '../../store/store.ts'
import { addTrackedWallets, readTrackedWallets } from '../../store/tables/tracked-wallets.ts'

/** Options of `trackWallets`. */
export interface TrackOptions {
  /** The line of each address in the file, for error messages. */
  readonly lines?: readonly number[]
  /** Milliseconds of the wall clock. */
  readonly now?: () => number
  /**
   * Whether the first wallets of an installation count as joining too, so that their history is
   * fetched.
   */
  readonly allJoin?: boolean
  /** Called with wallets that join others, before they are tracked. */
  readonly onJoining?: (wallets: readonly number[]) => Promise<void>
}

/**
 * Adds to table `tracked_wallets` the addresses that it does not have; the first address is `W1`.
 * Returns how many were added. Rejects with `bad_wallets_file`, and writes nothing, when a stored
 * wallet has another address in the file or is missing there (rule J2).
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

/** Rejects as `trackWallets` would, and writes nothing. Works before the schema is migrated. */
export async function checkWallets(
  store: Store,
  addresses: readonly Address[],
  file: string,
  lines?: readonly number[],
): Promise<void> {
  if (await hasTable(store, 'tracked_wallets'))
    checkWalletsKept(addresses, await readTrackedWallets(store), file, lines)
}
