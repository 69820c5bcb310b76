import type { Store } from '../../store/store.ts'
import { markBroken, readRevisions } from './book-store.ts'

/** Wallets marked in one insert. */
const WALLETS_AT_ONCE = 1000

/**
 * Makes `PRIVACY_SALT` of this process the salt by which the analyst's views serve (table
 * `privacy_salt`). When another one, or none, was in force, every wallet is first marked to be
 * folded anew, because stored sums follow the salt too. A process that dies in between does both
 * again at its next start.
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
  for (let at = 0; at < wallets.length; at += WALLETS_AT_ONCE) {
    const known = await readRevisions(store, wallets.slice(at, at + WALLETS_AT_ONCE))
    await markBroken(
      store,
      new Map([...known].map(([wallet, { revision }]) => [wallet, revision + 1])),
    )
  }
  const version = Math.max(Date.now(), Number(row?.newest ?? 0) + 1)
  await store.insert('privacy_salt', [{ id: 1, salt: salt ?? '', version }])
}
