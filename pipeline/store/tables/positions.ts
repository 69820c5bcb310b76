import type { Address } from '../../domain/address.ts'
import { inserter } from '../insert-rows.ts'
import type { Row, Store } from '../store.ts'
import { FIRST_BUYS_OF_MINT } from './books.ts'
import { KNOWN_MINTS, SUPPLY } from './mints.ts'

/**
 * Stores rows with their `version`. The highest one of a wallet and mint counts. The table is
 * ordered by wallet; projection `by_mint` has all columns ordered by mint.
 */
export const insertPositions = inserter('positions')

/** Published sums. With `PRIVACY_SALT` they differ from the true columns (rule I2). */
const SERVED_SUMS =
  'served_bought_amount AS bought_amount, served_sold_amount AS sold_amount, served_bought_lamports AS bought_lamports, served_sold_lamports AS sold_lamports'
const SERVED_TIMES =
  'served_first_trade_time AS first_trade_time, served_last_trade_time AS last_trade_time'

/** The columns of `PositionVersion`. */
export const POSITION_COLUMNS = `wallet, mint, decimals, ${SERVED_SUMS}, ${SERVED_TIMES}, version, is_deleted`

/** Published columns of a position. Integers of 64 bits and more are decimal strings. */
interface PositionRow {
  readonly wallet: number
  readonly mint: string
  readonly decimals: number
  readonly bought_amount: string
  readonly sold_amount: string
  readonly bought_lamports: string
  readonly sold_lamports: string
}

/** A position with more bought than sold, counting swaps only. */
export interface HeldPositionRow extends PositionRow {
  readonly first_trade_time: number
  readonly last_trade_time: number
}

/** A stored version of a position. */
export interface PositionVersion extends PositionRow {
  readonly first_trade_time: number | null
  readonly last_trade_time: number | null
  readonly version: string
  readonly is_deleted: number
}

/** Returns a row to insert in the form in which it is read. */
export function positionVersionOf(row: Row): PositionVersion {
  const { wallet, mint, decimals, version, is_deleted = 0 } = row
  // Without a salt the columns of published figures are left out: their defaults copy the others.
  const served = (name: string) => {
    const value = row[`served_${name}`]
    return value === undefined ? row[name] : value
  }
  const amount = (name: string) => String(served(name))
  return {
    wallet,
    mint,
    decimals,
    bought_amount: amount('bought_amount'),
    sold_amount: amount('sold_amount'),
    bought_lamports: amount('bought_lamports'),
    sold_lamports: amount('sold_lamports'),
    first_trade_time: served('first_trade_time'),
    last_trade_time: served('last_trade_time'),
    version: String(version),
    is_deleted,
  } as PositionVersion // of the columns' types
}

/** Held positions of a mint, summed. Integers of 64 bits and more are decimal strings. */
export interface HeldTokenRow {
  readonly mint: string
  readonly decimals: number
  readonly wallets: readonly number[]
  readonly held_amount: string
  readonly bought_lamports: string
}

/** A wallet's trades of a mint, summed. Integers of 64 bits and more are decimal strings. */
export interface TradedPositionRow extends Omit<PositionRow, 'mint' | 'decimals'> {
  readonly buys: string
  readonly sells: string
  readonly first_buy_time: number | null
  readonly last_trade_time: number
  /** Values of the first buy; the amount is 0 when there is none. */
  readonly first_amount: string
  readonly first_value_lamports: string | null
  readonly first_sol_price_usd_e9: string | null
  /** Total supply in raw units; null until it is known. */
  readonly supply: string | null
}

/** A page of a list. */
export interface PageOf<T> {
  readonly rows: readonly T[]
  /** Number of rows of the whole list. */
  readonly total: number
}

/** The largest number of rows of a response. A mint has at most one row per wallet. */
export const MOST_ROWS = 100_000

/**
 * Reads one row for each wallet that swapped the mint, by first buy (null last), then wallet (rule
 * C17).
 */
export function readMintPositions(store: Store, mint: Address): Promise<TradedPositionRow[]> {
  return store.query<TradedPositionRow>(MINT_POSITIONS, { mint })
}

// FINAL would read the whole table of positions, and takes twice as long over first buys. So the
// newest row of each wallet is selected here (see `infra/decisions/read-orders.md`).
const MINT_POSITIONS = `
  SELECT wallet, buys, sells, bought_amount, sold_amount, bought_lamports, sold_lamports, first_buy_time, last_trade_time,
    first.amount AS first_amount, first.value_lamports AS first_value_lamports, first.sol_price_usd_e9 AS first_sol_price_usd_e9,
    (${SUPPLY}) AS supply
  FROM (
    SELECT wallet, buys, sells, ${SERVED_SUMS}, served_first_buy_time AS first_buy_time,
      served_last_trade_time AS last_trade_time, is_deleted
    FROM positions WHERE mint = {mint:String} ORDER BY mint, wallet, version DESC LIMIT 1 BY mint, wallet
  ) AS position
  LEFT JOIN (
    ${FIRST_BUYS_OF_MINT}
  ) AS first USING (wallet)
  WHERE is_deleted = 0 AND buys + sells > 0
  ORDER BY first_buy_time ASC NULLS LAST, wallet LIMIT ${MOST_ROWS}`

/** Holders of a mint, and its first buy. Integers of 64 bits and more are decimal strings. */
export interface MintHoldersRow {
  readonly decimals: number
  readonly holders: string
  /** Sum of what they hold, in raw units, counting swaps only (rule C14). */
  readonly held_amount: string
  /** The first buy of any wallet; null without one. */
  readonly first_buy_time: number | null
}

/** Reads the holders of a mint, as published, summed; null if nobody has traded it. */
export async function readMintHolders(store: Store, mint: Address): Promise<MintHoldersRow | null> {
  const [row] = await store.query<MintHoldersRow>(MINT_HOLDERS, { mint }, [
    'decimals',
    'holders',
    'held_amount',
  ])
  return row ?? null
}

const MINT_HOLDERS = `
  SELECT any(decimals) AS decimals, countIf(bought_amount > sold_amount) AS holders,
    toString(sumIf(toUInt256(bought_amount - sold_amount), bought_amount > sold_amount)) AS held_amount,
    min(served_first_buy_time) AS first_buy_time
  FROM (
    SELECT decimals, buys, sells, ${SERVED_SUMS}, served_first_buy_time, is_deleted
    FROM positions WHERE mint = {mint:String} ORDER BY mint, wallet, version DESC LIMIT 1 BY mint, wallet
  )
  WHERE is_deleted = 0 AND buys + sells > 0 HAVING count() > 0`

/**
 * Open positions as the engine packs them, which makes no objects to read. Of each there are
 * `PACKED_WORDS` little-endian words, seen as words of 32 bits and, the same bytes, of 64:
 *
 * | word | type     | value                                                         |
 * | ---- | -------- | ------------------------------------------------------------- |
 * | 0    | UInt32   | wallet                                                        |
 * | 1    | UInt32   | decimals                                                      |
 * | 2, 3 | UInt32   | first and last trade                                          |
 * | 4    | 4 Int64  | amounts bought and sold, lamports spent and received          |
 * | 12   | 48 bytes | text of the mint, then zeros                                  |
 */
export interface PackedPositions {
  readonly words: Uint32Array
  readonly longs: BigInt64Array
}

export const PACKED_WORDS = 24

const SUM_COLUMNS = [
  'served_bought_amount',
  'served_sold_amount',
  'served_bought_lamports',
  'served_sold_lamports',
]
const OPEN = `served_bought_amount > served_sold_amount AND is_deleted = 0
  AND served_first_trade_time IS NOT NULL AND served_last_trade_time IS NOT NULL`
const FITS = `greatest(${SUM_COLUMNS.join(', ')}) < toUInt128('9223372036854775808')`
const PACKED = [
  'wallet',
  'toUInt32(decimals)',
  'assumeNotNull(served_first_trade_time)',
  'assumeNotNull(served_last_trade_time)',
  ...SUM_COLUMNS.map((column) => `toInt64(${column})`),
].map((value) => `reinterpretAsFixedString(${value})`)

/** Returns the open positions of wallets from `from` to `to` of which every sum is below 2^63. */
export async function readOpenPositions(
  store: Store,
  from: number,
  to: number,
): Promise<PackedPositions> {
  const [row] = await store.query<{ packed: string }>(
    `SELECT base64URLEncode(arrayStringConcat(groupArray(concat(${PACKED.join(', ')}, toFixedString(mint, 48))))) AS packed
     FROM positions FINAL WHERE wallet BETWEEN {from:UInt32} AND {to:UInt32} AND ${OPEN} AND ${FITS}`,
    { from, to },
  )
  const { buffer } = new Uint8Array(Buffer.from(row?.packed ?? '', 'base64url')) // at an even place
  return { words: new Uint32Array(buffer), longs: new BigInt64Array(buffer) }
}

/** Returns the other open positions. */
export function readLargePositions(store: Store) {
  return store.query<PositionVersion>(
    `SELECT ${POSITION_COLUMNS} FROM positions FINAL WHERE ${OPEN} AND NOT (${FITS}) LIMIT 1000000`,
  )
}

/** Returns the highest number of a wallet with a position; 0 without any. */
export async function newestPositionWallet(store: Store): Promise<number> {
  const [last] = await store.query<{ wallet: number }>(
    'SELECT max(wallet) AS wallet FROM positions',
  )
  return last?.wallet ?? 0
}

/**
 * Returns at most `limit` mints that tracked wallets have swapped and that have no row in `mints`.
 */
export async function findMintsWithoutFacts(store: Store, limit: number): Promise<Address[]> {
  const rows = await store.query<{ mint: Address }>(
    `SELECT DISTINCT mint FROM positions WHERE buys + sells > 0 AND mint NOT IN (${KNOWN_MINTS}) LIMIT {limit:UInt32}`,
    { limit },
  )
  return rows.map(({ mint }) => mint)
}

/** Returns the mints that these wallets traded; `isRecent`: one of them did after `since`. */
export async function readMintsOfWallets(store: Store, wallets: Iterable<number>, since: number) {
  const rows = await store.query<{ mint: string; is_recent: number }>(
    `SELECT mint, countIf(last_trade_time > {since:UInt32}) > 0 AS is_recent FROM positions
     WHERE wallet IN {wallets:Array(UInt32)} GROUP BY mint LIMIT 10000000`,
    { wallets: [...wallets], since: Math.max(0, since) },
  )
  return rows.map(({ mint, is_recent }) => ({ mint, isRecent: is_recent === 1 }))
}
