import type { Address } from './address.ts'
import type { EventKey } from './event-key.ts'

/** The fields that every event has besides its key. */
interface EventBase extends EventKey {
  /** Unix seconds of the block (rule B15). */
  readonly blockTime: number
  /** Base58 signature of the transaction. Never served (rule I1). */
  readonly signature: string
}

/**
 * `high`: read from the instruction of a known venue. `delta_only`: from balance changes alone
 * (rules B6, B10).
 */
export type Confidence = 'high' | 'delta_only'

/** Direction of a swap as the wallet sees it: `buy` receives the base, `sell` gives it. */
export type Side = 'buy' | 'sell'

/**
 * A trade of a tracked wallet: base against quote (rules B4 to B11). Its served form is a trade.
 */
export interface Swap extends EventBase {
  readonly kind: 'swap'
  readonly side: Side
  readonly baseMint: Address
  /** Raw base units, above zero. */
  readonly baseAmount: bigint
  readonly baseDecimals: number
  /** WSOL, USDC or USDT. Null when no quote coin opposed the base (`quoteMismatch`, rule B7). */
  readonly quoteMint: Address | null
  /** Raw quote units; 0 when `quoteMint` is null. */
  readonly quoteAmount: bigint
  /** Name of the venue or router, or `unknown` (rule B11, section H). */
  readonly program: string
  /** The outermost program that moved the base (rule B11). Stored, never served. */
  readonly programId: Address
  /**
   * The pool, bonding curve or pair account through which the base went; null if unknown. Stored,
   * never served.
   */
  readonly pool: Address | null
  readonly confidence: Confidence
  readonly quoteMismatch: boolean
  /** Lamports that a terminal or bot charged in addition to the swap (rule B13a); 0 if none. */
  readonly feeLamports: bigint
  /**
   * Price of one SOL in USD x 10^9 at the swap's block time, kept with the event so that a replay
   * gives the same result (rule C1).
   *
   * It values USDC and USDT quotes, and the market cap of a token's first buy (rule C15). Null
   * without a quote, and while no price is known.
   */
  readonly solPriceUsdE9: bigint | null
}

/** A token amount moved in or out that no swap explains (rule B12). Never a quote mint. */
export interface TokenTransfer extends EventBase {
  readonly kind: 'token_transfer'
  readonly direction: 'in' | 'out'
  readonly mint: Address
  /** Raw units, above zero, after the mint's transfer fee. */
  readonly amount: bigint
  readonly decimals: number
}

/** SOL or WSOL moved outside swaps (rule B13). */
export interface SolTransfer extends EventBase {
  readonly kind: 'sol_transfer'
  readonly direction: 'in' | 'out'
  readonly lamports: bigint
}

/** One action of a tracked wallet. */
export type WalletEvent = Swap | TokenTransfer | SolTransfer

/**
 * The wallet's own lamports before and after a transaction that names it (rules B14, K8). Not an
 * event, but logged and stored like one. The newest by slot and transaction index counts.
 */
export interface BalanceRecord {
  readonly kind: 'balance'
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly blockTime: number
  /** Lamports after the transaction. */
  readonly lamports: bigint
  /** Null for records of log formats before version 3. */
  readonly lamportsBefore: bigint | null
}

/**
 * What a token account of the wallet held before and after a transaction (rule K8). Not an event,
 * but logged and stored like one. Amounts are raw units, and 0 while the account does not exist or
 * belongs to somebody else.
 */
export interface TokenAccountLink {
  readonly kind: 'token_link'
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly blockTime: number
  /** Address of the token account. Never served. */
  readonly account: Address
  readonly mint: Address
  readonly before: bigint
  readonly after: bigint
}

/** A transaction that could not be decoded for a wallet (rule K7). */
export interface Undecoded {
  readonly kind: 'undecoded'
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly blockTime: number
  readonly signature: string
  /** The program at fault, if known. */
  readonly programId: Address | null
  /** One of `UndecodedReason` in `pipeline/decode/undecoded.ts`. */
  readonly reason: string
}

/**
 * The bytes of a transaction that gave an event or could not be decoded. They are kept so that a
 * fixed decoder can be applied to history (rule K4). The record belongs to the lowest wallet number
 * with a record of the transaction, so that it is logged once.
 */
export interface KeptTransaction {
  readonly kind: 'kept'
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly blockTime: number
  readonly signature: string
  /** Format of `bytes`, see `KEPT_FORMAT`. */
  readonly format: number
  readonly bytes: Uint8Array
}

/** Formats of kept bytes. */
export const KEPT_FORMAT = {
  /** The transaction is above `MAX_KEPT_BYTES`; `bytes` is empty. */
  tooLarge: 0,
  /** Protobuf `SubscribeUpdateTransactionInfo` of Yellowstone's `geyser.proto`. */
  yellowstone: 1,
} as const

/** Largest transaction that is kept. Kafka takes at most 1 MB for one record. */
export const MAX_KEPT_BYTES = 512 * 1024
