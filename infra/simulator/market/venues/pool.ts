import type { Key } from '../key.ts'
import type { LookupTable, TokenAccount, TransactionBuilder } from '../transaction-builder.ts'
import type { Coin } from '../universe.ts'

/** One swap for a venue to carry out. */
export interface SwapOrder {
  readonly coin: Coin
  readonly side: 'buy' | 'sell'
  readonly trader: Key
  /** The trader's token accounts; `quote` is not used by venues that trade native SOL. */
  readonly base: Key
  readonly quote: Key
  /** What the trader gives: raw quote units of a buy (at most), raw base units of a sell. */
  readonly amount: bigint
  readonly slot: number
  /** Unix seconds of the block. */
  readonly time: number
  /** Makes the program refuse the swap with its slippage error. */
  readonly refuse?: boolean
}

/** What the trader really gave and got, raw units, all fees included. */
export interface Fill {
  readonly base: bigint
  readonly quote: bigint
}

/** What an account that belongs to a pool holds at a slot. */
export interface PoolAccount {
  readonly key: Key
  lamports(slot: number): bigint
  token(slot: number): TokenAccount | null
}

/** A program that trades: one file each. */
export interface Venue {
  /** Its accounts whose balances transactions show. */
  accounts(coin: Coin): readonly PoolAccount[]
  /** The lookup table that its traders use. */
  table(coin: Coin): LookupTable
  /** Records the swap as an instruction, top-level or called by a router. */
  swap(tx: TransactionBuilder, order: SwapOrder): Fill
}

/** Takes `bps` basis points of an amount, rounded up as programs do. */
export function feeOf(amount: bigint, bps: bigint): bigint {
  return (amount * bps + 9_999n) / 10_000n
}

/** What a constant product gives for `given`, the fee taken from it first. */
export function constantProduct(
  given: bigint,
  reserveIn: bigint,
  reserveOut: bigint,
  feeBps: bigint,
): bigint {
  const net = given - feeOf(given, feeBps)
  return (reserveOut * net) / (reserveIn + net)
}
