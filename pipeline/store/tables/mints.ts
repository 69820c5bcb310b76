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

/**
 * Returns the first `limit` mints by symbol, then mint, of which a stored version has a symbol that
 * begins with `prefix`: ASCII letters in lower case. A mint may be listed twice.
 */
export async function findMintsBySymbol(store: Store, prefix: string, limit: number) {
  const rows = await store.query<{ mint: string }>(
    `SELECT mint FROM mints WHERE startsWith(lower(symbol), {prefix:String})
     ORDER BY lower(symbol), mint LIMIT {limit:UInt32}
     SETTINGS max_threads = 1, preferred_optimize_projection_name = 'by_symbol'`,
    { prefix, limit },
  )
  return rows.map(({ mint }) => mint)
}

/**
 * Returns the first `limit` mints, in their order, of which a stored version has a name with all of
 * these words (`wordsOfName`). A mint may be listed twice. It reads names until there are as many.
 */
export async function findMintsByWords(store: Store, words: readonly string[], limit: number) {
  const hasWords = words.map((_, at) => `hasToken(lower(name), {word${at}:String})`)
  const rows = await store.query<{ mint: string }>(
    `SELECT mint FROM mints WHERE ${hasWords.join(' AND ')} ORDER BY mint LIMIT {limit:UInt32}
     SETTINGS max_threads = 1, optimize_use_projections = 0`,
    { limit, ...Object.fromEntries(words.map((word, at) => [`word${at}`, word])) },
  )
  return rows.map(({ mint }) => mint)
}

/** Returns a text with its ASCII letters in lower case, as `lower` of ClickHouse does. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Returns the words of a name, in lower case: what stands between other ASCII characters. */
export function wordsOfName(name: string): string[] {
  return lowerAscii(name).match(/[a-z0-9\u0080-\uffff]+/g) ?? []
}
