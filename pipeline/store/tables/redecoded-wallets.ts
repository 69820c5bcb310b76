import { insertRows } from '../insert-rows.ts'
import type { Store } from '../store.ts'
import { HAS_WITHDRAWN } from './withdrawn-slots.ts'

/** Subquery: 1 once a redecode or a withdrawal (rule K9) has changed stored events, else 0. */
export const WAS_REDECODED = `SELECT (SELECT count() > 0 FROM redecoded_wallets) OR (${HAS_WITHDRAWN})`

/** Returns whether a redecode or a withdrawal has changed stored events. */
export async function wasRedecoded(store: Store): Promise<boolean> {
  const [row] = await store.query<{ redecoded: number }>(
    `SELECT (${WAS_REDECODED}) AS redecoded`,
    {},
    ['redecoded'],
  )
  return row?.redecoded === 1
}

/**
 * Marks wallets as folded or to be folded. `at`: unix milliseconds. The latest mark of a wallet
 * counts; at the same millisecond, to be folded wins.
 */
export async function markRedecoded(
  store: Store,
  wallets: readonly number[],
  { isFolded, at }: { readonly isFolded: boolean; readonly at: number },
): Promise<void> {
  const version = at * 2 + Number(!isFolded)
  const rows = wallets.map((wallet) => ({ wallet, is_folded: isFolded, version }))
  await insertRows(store, 'redecoded_wallets', rows)
}

/**
 * Stores that events of wallets change, so that readers look for corrected rows (`WAS_REDECODED`).
 * Marks of a redecode stay in force.
 */
export async function noteRedecoded(store: Store, wallets: readonly number[]): Promise<void> {
  const rows = wallets.map((wallet) => ({ wallet, is_folded: true, version: 0 }))
  await insertRows(store, 'redecoded_wallets', rows)
}

/** Returns the wallets with changed events that are not folded yet, also those of a killed run. */
export async function findUnfoldedWallets(store: Store): Promise<number[]> {
  const rows = await store.query<{ wallet: number }>(
    'SELECT wallet FROM redecoded_wallets FINAL WHERE NOT is_folded ORDER BY wallet LIMIT 10000000',
  )
  return rows.map(({ wallet }) => wallet)
}
