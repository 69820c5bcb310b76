import { SNAPSHOT_FORMATS } from '../../fold/snapshot.ts'
import type { Store } from '../../store/store.ts'
import { markForRefold, readRevisions } from '../../store/tables/fold-snapshots.ts'
import { findActiveWallets } from '../../store/tables/wallet-metrics.ts'

/**
 * Makes `PRIVACY_SALT` of this process the salt of the analyst's views (table `privacy_salt`). When
 * it differs from the stored one, every wallet first gets a refold mark, because stored sums depend
 * on the salt too. After a crash in between, the next start does both again.
 */
export async function adoptSalt(store: Store, salt: string | null): Promise<void> {
  const [row] = await store.query<{ salt: string; newest: string }>(
    'SELECT argMax(salt, version) AS salt, max(version) AS newest FROM privacy_salt',
  )
  if ((row?.salt ?? '') === (salt ?? '')) return
  const known = await readRevisions(store, await findActiveWallets(store), SNAPSHOT_FORMATS)
  await markForRefold(
    store,
    new Map([...known].map(([wallet, { revision }]) => [wallet, revision + 1])),
    (wallet) => (((known.get(wallet)?.version ?? 0n) >> 32n) + 1n) << 32n,
  )
  const version = Math.max(Date.now(), Number(row?.newest ?? 0) + 1)
  await store.insert('privacy_salt', [{ id: 1, salt: salt ?? '', version }])
}
