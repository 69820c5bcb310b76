import type { Address } from './address.ts'
import type { EventKey } from './event-key.ts'

/** What every event carries besides its key. */
interface EventBase extends EventKey {
  /** Unix seconds of the block (rule B15). */
  readonly blockTime: number
  /** Base58 signature of the transaction. Never served (rule I1). */
  readonly signature: string
}

/** `high`: read from a known venue's instruction; `delta_only`: from balance changes alone (rules B6, B10). */
export type Confidence = 'high' | 'delta_only'

export type Side = 'buy' | 'sell'

/** A trade of a tracked wallet: base against quote (rules B4-B11). Published, it is called a trade. */
export interface Swap extends EventBase {
  readonly kind: 'swap'
  readonly side: Side
  readonly baseMint: Address
  /** Raw base units, above zero. */
  readonly baseAmount: bigint
  readonly baseDecimals: number
  /** WSOL, USDC or USDT; null when no quote coin opposed the base (`quoteMismatch`, rule B7). */
  readonly quoteMint: Address | null
  /** Raw quote units; 0 when `quoteMint` is null. */
  readonly quoteAmount: bigint
  /** Name of the venue or router (rule B11, H), or `unknown`. */
  readonly program: string
  /** The outermost program that moved the base (rule B11); stored, never served. */
  readonly programId: Address
  /** The venue's pool, bonding curve or pair account through which the base went; null when none is known. Stored, never served. */
  readonly pool: Address | null
  readonly confidence: Confidence
  readonly quoteMismatch: boolean
  /** Lamports a terminal or bot took beside the swap (rule B13a); 0 when none. */
  readonly feeLamports: bigint
  /**
   * USD x 10^9 for one SOL at the swap's block time, kept with the event so that a replay gives the same answer (rule C1): a USDC or USDT quote
   * is worth what it buys at it, and the first buy of a token has its market cap by it, whatever the quote (rule C15). Null without a quote, and
   * while no price is known.
   */
  readonly solPriceUsdE9: bigint | null
}

/** A token moved in or out that no swap explains (rule B12); never a quote mint. */
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

/** One thing that a tracked wallet did. */
export type WalletEvent = Swap | TokenTransfer | SolTransfer

/**
 * The wallet's own lamports after a transaction that names it (rule B14): not an event, but on the log and stored
 * like one; the newest by (slot, tx index) wins.
 */
export interface BalanceRecord {
  readonly kind: 'balance'
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly blockTime: number
  readonly lamports: bigint
}

/** A transaction that could not be decoded for a wallet (rule K7). */
export interface Undecoded {
  readonly kind: 'undecoded'
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly blockTime: number
  readonly signature: string
  /** Program at fault, where one is known. */
  readonly programId: Address | null
  /** From a closed set, see `pipeline/decode`. */
  readonly reason: string
}

/**
 * The bytes of a transaction that gave an event or could not be decoded, so that a mended decoder can be applied to history (rule K4). Goes with the
 * lowest wallet that had something of it, so that it is on the log once.
 */
export interface KeptTransaction {
  readonly kind: 'kept'
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly blockTime: number
  readonly signature: string
  /** What `bytes` are, see `KEPT_FORMAT`. */
  readonly format: number
  readonly bytes: Uint8Array
}

/** Formats of kept bytes. */
export const KEPT_FORMAT = {
  /** Above `MAX_KEPT_BYTES`: there are no bytes. */
  tooLarge: 0,
  /** Protobuf `SubscribeUpdateTransactionInfo` of Yellowstone's `geyser.proto`. */
  yellowstone: 1,
} as const

/** Larger transactions are not kept: in base64 this fits into the megabyte that Kafka takes for one record. Of 1,565 recorded ones the largest has 21 KB. */
export const MAX_KEPT_BYTES = 512 * 1024
