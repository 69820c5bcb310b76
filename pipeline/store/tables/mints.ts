import type { Address } from '../../domain/address.ts'
import { inserter } from '../insert-rows.ts'
import type { QueryParams, Store } from '../store.ts'

/** A row of table `mints`. Times are unix seconds. `asked` counts the responses of RPC so far. */
export type MintRow = {
  readonly mint: Address
  readonly token_program: 'none' | 'spl_token' | 'token_2022'
  readonly decimals: number | null
  readonly supply: string | null
  readonly symbol: string
  readonly name: string
  readonly metadata: 'none' | 'token_2022' | 'metaplex'
  readonly fetched_at: number | null
  readonly asked: number
  readonly ask_again_at: number | null
}

/** Stores rows with their `version`. The highest one of a mint counts. */
export const insertMints = inserter('mints')

/** Subquery: every mint with a row. */
export const KNOWN_MINTS = 'SELECT mint FROM mints'

/** Subquery: the known decimals of `{mints:Array(String)}`. */
export const DECIMALS_OF_MINTS =
  'SELECT mint, assumeNotNull(decimals) AS decimals FROM mints FINAL WHERE mint IN {mints:Array(String)} AND decimals IS NOT NULL'

/** Subquery: the supply of mint `{mint:String}` in raw units; null until it is known. */
export const SUPPLY = 'SELECT supply FROM mints FINAL WHERE mint = {mint:String}'

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
export async function readMintRows(store: Store, mints: readonly Address[]) {
  const rows = await store.query<MintRow>(
    `SELECT mint, token_program, decimals, supply, symbol, name, metadata, fetched_at, asked, ask_again_at
     FROM mints FINAL WHERE mint IN {mints:Array(String)} LIMIT 1000`,
    { mints },
  )
  return new Map(rows.map((row) => [row.mint, row]))
}

/** Facts about a token: its supply in raw units, null until it is known, symbol and name. */
export type Facts = Pick<MintRow, 'symbol' | 'name'> & { readonly supply: bigint | null }

/** Returns the facts about these mints. */
export function readFacts(store: Store, mints: readonly string[]): Promise<Map<string, Facts>> {
  return queryFacts(store, 'FINAL WHERE mint IN {mints:Array(String)} LIMIT 100000', { mints })
}

/** Returns the newest facts of mints that were stored in the last `seconds`. */
export function readNewFacts(store: Store, seconds: number): Promise<Map<string, Facts>> {
  return queryFacts(
    store,
    `WHERE inserted_at >= now64(3) - toIntervalSecond({seconds:UInt32})
     ORDER BY mint, version DESC LIMIT 1 BY mint LIMIT 100000`,
    { seconds },
  )
}

async function queryFacts(store: Store, condition: string, params: QueryParams) {
  const rows = await store.query<Pick<MintRow, 'mint' | 'supply' | 'symbol' | 'name'>>(
    `SELECT mint, supply, symbol, name FROM mints ${condition}`,
    params,
  )
  const factsOf = ({ supply, symbol, name }: (typeof rows)[number]): Facts => ({
    supply: supply === null ? null : BigInt(supply),
    symbol,
    name,
  })
  return new Map<string, Facts>(rows.map((row) => [row.mint, factsOf(row)]))
}
