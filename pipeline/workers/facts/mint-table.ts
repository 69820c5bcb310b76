import type { Address } from '../../domain/address.ts'
import type { Store } from '../../store/store.ts'
import type { MintRow } from './mint-row.ts'

/** Returns at most `limit` mints that somebody has swapped and that have no row in `mints`. */
export async function findMintsWithoutFacts(store: Store, limit: number): Promise<Address[]> {
  const rows = await store.query<{ mint: Address }>(
    `SELECT DISTINCT mint FROM positions WHERE buys + sells > 0 AND mint NOT IN (SELECT mint FROM mints) LIMIT {limit:UInt32}`,
    { limit },
  )
  return rows.map(({ mint }) => mint)
}

/** A mint with missing facts, and when to request it again, in unix seconds. */
export type DueMint = Pick<MintRow, 'mint'> & { readonly ask_again_at: number }

/** Returns the first `limit` mints by the time at which they are to be requested again. */
export function findDueMints(store: Store, limit: number): Promise<DueMint[]> {
  return store.query<DueMint>(
    `SELECT mint, ask_again_at FROM mints FINAL WHERE ask_again_at IS NOT NULL ORDER BY ask_again_at LIMIT {limit:UInt32}`,
    { limit },
  )
}

/** Returns the rows of at most 1000 mints; a mint without a row has no entry. */
export async function readMintRows(
  store: Store,
  mints: readonly Address[],
): Promise<Map<Address, MintRow>> {
  const rows = await store.query<MintRow>(
    `SELECT mint, token_program, decimals, supply, symbol, name, metadata, fetched_at, asked, ask_again_at
     FROM mints FINAL WHERE mint IN {mints:Array(String)} LIMIT 1000`,
    { mints },
  )
  return new Map(rows.map((row) => [row.mint, row]))
}
