import { derivedKey, type Key } from '../key.ts'
import { tokenAccountRent } from '../native.ts'
import { WSOL_MINT } from '../programs.ts'
import type {
  AccountMeta,
  LookupTable,
  Mint,
  TokenAccount,
  TransactionBuilder,
} from '../transaction-builder.ts'
import { type Coin, reservesAt } from '../universe.ts'

/** One swap for a venue to carry out. */
export interface SwapOrder {
  readonly coin: Coin
  readonly side: 'buy' | 'sell'
  readonly trader: Key
  /** The trader's token accounts. Venues that trade native SOL ignore `quote`. */
  readonly base: Key
  readonly quote: Key
  /** What the trader gives: raw quote units of a buy (at most), or raw base units of a sell. */
  readonly amount: bigint
  readonly slot: number
  /** Unix seconds of the block. */
  readonly time: number
  /** Whether the program refuses the swap with its slippage error. */
  readonly refuse?: boolean
}

/** What the trader gave and got, in raw units, with all fees. */
export interface SwapFill {
  readonly base: bigint
  readonly quote: bigint
}

/**
 * A swap that is computed but not yet recorded: a router must name its accounts before it calls it.
 */
export interface PlannedSwap {
  readonly program: Key
  readonly accounts: readonly AccountMeta[]
  readonly fill: SwapFill
  /** Records the instruction, top-level or called by a router. */
  record(tx: TransactionBuilder): void
}

/** Balances of a pool's account at a slot. */
export interface PoolBalances {
  readonly key: Key
  lamports(slot: number): bigint
  token(slot: number): TokenAccount | null
}

/** A trading program; each has a file of its own. */
export interface Venue {
  /** Accounts of a coin's pool whose balances appear in transactions. */
  accounts(coin: Coin): readonly PoolBalances[]
  /** The lookup table that its traders use. */
  table(coin: Coin): LookupTable
  plan(order: SwapOrder): PlannedSwap
}

/** Basis points of an amount, rounded up as programs do. */
export function feeOf(amount: bigint, bps: bigint): bigint {
  return (amount * bps + 9_999n) / 10_000n
}

/** Output of a constant product for `given`, after the fee. */
export function constantProduct(
  given: bigint,
  reserveIn: bigint,
  reserveOut: bigint,
  feeBps: bigint,
): bigint {
  const net = given - feeOf(given, feeBps)
  return (reserveOut * net) / (reserveIn + net)
}

/** Input and output of an order on a constant-product pool, with its fee. */
export function fillOf(order: SwapOrder, feeBps: bigint): SwapFill {
  const reserves = reservesAt(order.coin, order.slot)
  return order.side === 'buy'
    ? {
        quote: order.amount,
        base: constantProduct(order.amount, reserves.quote, reserves.base, feeBps),
      }
    : {
        base: order.amount,
        quote: constantProduct(order.amount, reserves.base, reserves.quote, feeBps),
      }
}

/** A token account of a pool. */
export function vault(
  key: Key,
  mint: Mint,
  owner: Key,
  amount: (slot: number) => bigint,
): PoolBalances {
  const rent = tokenAccountRent(mint)
  return {
    key,
    lamports: (slot) => rent + (mint.key === WSOL_MINT ? amount(slot) : 0n),
    token: (slot) => ({ mint, owner, amount: amount(slot) }),
  }
}

/** The two vaults that most pools have (`vault-base` and `vault-quote`), of an owner. */
export function poolVaults(coin: Coin, owner: Key): PoolBalances[] {
  return [
    vault(coin.key('vault-base'), coin.mint, owner, (slot) => reservesAt(coin, slot).base),
    vault(coin.key('vault-quote'), coin.quote, owner, (slot) => reservesAt(coin, slot).quote),
  ]
}

/** The lookup table of a pool: the keys that its swaps name. Created once. */
export function lookupTableOf(coin: Coin, entries: () => readonly Key[]): LookupTable {
  let table = tables.get(coin)
  if (table === undefined) {
    table = { key: derivedKey(0, `table/${coin.mint.key.address}`), entries: entries() }
    tables.set(coin, table)
  }
  return table
}
const tables = new WeakMap<Coin, LookupTable>()

/**
 * Whether the coin's mint comes before its quote's in byte order, by which symmetric pools order
 * their mints.
 */
export function isBaseFirst(coin: Coin): boolean {
  return Buffer.compare(coin.mint.key.bytes, coin.quote.key.bytes) < 0
}

/** The accounts and vaults of a swap by its direction. */
export function direction(order: SwapOrder) {
  const { coin } = order
  const [base, quote] = [coin.key('vault-base'), coin.key('vault-quote')]
  return order.side === 'buy'
    ? {
        from: order.quote,
        to: order.base,
        vaultIn: quote,
        vaultOut: base,
        mintIn: coin.quote,
        mintOut: coin.mint,
      }
    : {
        from: order.base,
        to: order.quote,
        vaultIn: base,
        vaultOut: quote,
        mintIn: coin.mint,
        mintOut: coin.quote,
      }
}
