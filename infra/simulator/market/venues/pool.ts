import { type Key, rememberedKey } from '../key.ts'
import { tokenAccountRent } from '../native.ts'
import { WSOL_MINT } from '../programs.ts'
import type {
  AccountMeta,
  LookupTable,
  Mint,
  TokenAccount,
  TransactionBuilder,
} from '../transaction-builder.ts'
import { type Coin, priceAt, reservesAt } from '../universe.ts'

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
  readonly data: Uint8Array
  readonly fill: SwapFill
  /** Compute units without those of called programs. */
  readonly units: number
  /** The body of the instruction. */
  run(tx: TransactionBuilder): void
}

/** Records the instruction of a swap, top-level or called by a router. */
export function recordSwap(tx: TransactionBuilder, planned: PlannedSwap): void {
  const { program, accounts, data, units } = planned
  tx.call(program, accounts, data, () => planned.run(tx), units)
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

/**
 * The amounts of an order on a constant-product pool with this fee, and the accounts, vaults and
 * mints of its input and output.
 */
export function sidesOf({ coin, side, amount, base, quote, slot }: SwapOrder, feeBps: bigint) {
  const reserves = reservesAt(coin, slot)
  const ofBase = { account: base, vault: coin.key('vault-base'), mint: coin.mint.key }
  const ofQuote = { account: quote, vault: coin.key('vault-quote'), mint: coin.quote.key }
  const [input, output] = side === 'buy' ? [ofQuote, ofBase] : [ofBase, ofQuote]
  const [reserveIn, reserveOut] =
    side === 'buy' ? [reserves.quote, reserves.base] : [reserves.base, reserves.quote]
  const net = amount - feeOf(amount, feeBps)
  const got = (reserveOut * net) / (reserveIn + net)
  const fill: SwapFill =
    side === 'buy' ? { quote: amount, base: got } : { base: amount, quote: got }
  return { fill, given: amount, got, input, output }
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

/**
 * The lookup table of a pool: the keys that its swaps name, of the program and of the coin by name.
 */
export function lookupTable(
  coin: Coin,
  fixed: readonly Key[],
  names: readonly string[],
): LookupTable {
  const entries = [...fixed, ...names.map((name) => coin.key(name))]
  return { key: rememberedKey(`table/${coin.mint.key.address}`), entries }
}

/**
 * The sides of a symmetric pool, which orders its mints by their bytes; and the price at a slot:
 * raw units of mint B for one of mint A.
 */
export function pairOf(coin: Coin, slot: number) {
  const base = { mint: coin.mint, vault: coin.key('vault-base') }
  const quote = { mint: coin.quote, vault: coin.key('vault-quote') }
  const price = priceAt(coin, slot)
  return isBaseFirst(coin) ? { a: base, b: quote, price } : { a: quote, b: base, price: 1 / price }
}

/** Whether the coin's mint comes before its quote's in byte order. */
export function isBaseFirst(coin: Coin): boolean {
  return Buffer.compare(coin.mint.key.bytes, coin.quote.key.bytes) < 0
}

/** The tick of a price, as concentrated-liquidity pools count them: powers of 1.0001. */
export function tickOf(price: number): number {
  return Math.floor(Math.log(price) / Math.log(1.0001))
}

/** Square root of the raw price (B for A) times 2^64, as these pools store it. */
export function sqrtPriceX64(price: number): bigint {
  return (BigInt(Math.round(Math.sqrt(price) * 2 ** 52)) << 64n) >> 52n
}
