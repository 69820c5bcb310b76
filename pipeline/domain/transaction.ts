import type { Address } from './address.ts'

/**
 * A transaction with its result, the same from Yellowstone protobuf and from RPC JSON.
 *
 * Accounts are given by their index in `accountKeys`, so that only output is turned into base58.
 * Implementations may build lists and numbers lazily: most transactions of a stream name no tracked
 * wallet, and little of them is read.
 */
export interface Transaction {
  readonly kind: 'transaction'
  readonly slot: number
  /** Index of the transaction in its block. */
  readonly index: number
  /** 64 bytes. */
  readonly signature: Uint8Array
  /** Whether the transaction failed (`meta.err`). */
  readonly failed: boolean
  /**
   * 32 bytes each: static keys, then writable and then read-only keys of lookup tables. The first
   * is the fee payer.
   */
  readonly accountKeys: readonly Uint8Array[]
  /** Number of leading account keys that signed. */
  readonly signerCount: number
  /** Network fee, base and priority, in lamports. */
  readonly fee: bigint
  /** Lamports of an account before the transaction, by its index in `accountKeys`. */
  lamportsBefore(account: number): bigint
  /** Lamports of an account after the transaction, by its index in `accountKeys`. */
  lamportsAfter(account: number): bigint
  /**
   * Owners that token balances name, first pre, then post balances. An owner is repeated for each
   * balance.
   */
  readonly tokenOwners: readonly string[]
  readonly preTokenBalances: readonly TokenBalance[]
  readonly postTokenBalances: readonly TokenBalance[]
  /**
   * Every instruction in order of execution: each top-level one is followed by its inner
   * instructions.
   */
  readonly instructions: readonly Instruction[]
  /**
   * False when the node kept no inner instructions. `instructions` then has top-level ones only.
   */
  readonly innerKept: boolean
  /** Null when the node kept none. */
  readonly logs: readonly string[] | null
  /**
   * Encodes the transaction in the format in which it is kept (`KEPT_FORMAT.yellowstone`). Decoding
   * gives an equal transaction. Each call encodes again.
   */
  encoded(): Uint8Array
}

/** An instruction, top-level or inner. */
export interface Instruction {
  /** Index of the program in `accountKeys`. */
  readonly programIndex: number
  /** Account indexes in the instruction's order; each is below `accountKeys.length`. */
  readonly accounts: Uint8Array
  readonly data: Uint8Array
  /**
   * 1 for a top-level instruction, 2 for its direct callees, and so on. For nodes that do not
   * report heights, all inner instructions have 2.
   */
  readonly stackHeight: number
}

/** The balance of a token account, before or after a transaction. */
export interface TokenBalance {
  /** Index of the token account, below `accountKeys.length`. */
  readonly accountIndex: number
  readonly mint: Address
  /** Null for nodes and blocks older than this field. */
  readonly owner: Address | null
  /** Raw units. */
  readonly amount: bigint
  readonly decimals: number
}

/** A transaction that cannot be read, with the fields that could. */
export interface Malformed {
  readonly kind: 'malformed'
  readonly slot: number | null
  readonly index: number | null
  readonly signature: Uint8Array | null
  readonly reason: MalformedTransactionReason
}

/** Which part of a transaction was missing or inconsistent. */
export type MalformedTransactionReason =
  | 'not_a_transaction'
  | 'no_meta'
  | 'bad_place'
  | 'bad_signature'
  | 'bad_account_keys'
  | 'bad_balances'
  | 'bad_token_balance'
  | 'bad_instruction'
  | 'unknown_encoding'
