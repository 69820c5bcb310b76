import type { Store } from '../../store/store.ts'
import { markForRefold, readRevisions } from './book-store.ts'

const WALLETS_PER_INSERT = 1000

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
  const stored = await store.query<{ wallet: number }>(
    `SELECT DISTINCT wallet FROM wallet_metrics WHERE events > 0 OR sol_balance_lamports IS NOT NULL
     ORDER BY wallet LIMIT 10000000`,
  )
  const wallets = stored.map(({ wallet }) => wallet)
  for (let at = 0; at < wallets.length; at += WALLETS_PER_INSERT) {
    const known = await readRevisions(store, wallets.slice(at, at + WALLETS_PER_INSERT))
    await markForRefold(
      store,
      new Map([...known].map(([wallet, { revision }]) => [wallet, revision + 1])),
    )
  }
  const version = Math.max(Date.now(), Number(row?.newest ?? 0) + 1)
  await store.insert('privacy_salt', [{ id: 1, salt: salt ?? '', version }])
}
