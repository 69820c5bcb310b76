import type { Address } from './address.ts'

/**
 * A transaction with its outcome, the same whether it came as Yellowstone protobuf or as RPC JSON. Accounts are named by
 * their index in `accountKeys`, so that nothing is turned into base58 that does not leave the process. Lists and numbers may be made
 * at first reading: most transactions of a stream name no tracked wallet, and of those little is ever read.
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
  /** 32 bytes each: static keys, then looked-up writable, then looked-up read-only ones. The fee payer is the first. */
  readonly accountKeys: readonly Uint8Array[]
  /** How many of the first account keys signed. */
  readonly signerCount: number
  /** Network fee, base and priority, in lamports. */
  readonly fee: bigint
  /** Lamports of an account before and after, by its index in `accountKeys`. */
  lamportsBefore(account: number): bigint
  lamportsAfter(account: number): bigint
  /** Owners that token balances name, before and then after; an owner comes as often as it owns. */
  readonly tokenOwners: readonly string[]
  readonly preTokenBalances: readonly TokenBalance[]
  readonly postTokenBalances: readonly TokenBalance[]
  /** Every instruction in order of execution: each top-level one followed by all that it called. */
  readonly instructions: readonly Instruction[]
  /** False when the node kept no inner instructions, so that `instructions` has top-level ones alone. */
  readonly innerKept: boolean
  /** Null when the node kept none. */
  readonly logs: readonly string[] | null
  /** The transaction in the encoding in which it is kept (`KEPT_FORMAT.yellowstone`), which gives an equal transaction when it is read again; made anew at each call. */
  encoded(): Uint8Array
}

export interface Instruction {
  /** Index of the program in `accountKeys`. */
  readonly programIndex: number
  /** Account indexes, in the instruction's order; each is below `accountKeys.length`. */
  readonly accounts: Uint8Array
  readonly data: Uint8Array
  /** 1 for a top-level instruction, 2 for what it called, and so on. Old nodes did not tell: then all inner ones are 2. */
  readonly stackHeight: number
}

export interface TokenBalance {
  /** Index of the token account, below `accountKeys.length`. */
  readonly accountIndex: number
  readonly mint: Address
  /** Null for nodes and blocks older than the field. */
  readonly owner: Address | null
  /** Raw units. */
  readonly amount: bigint
  readonly decimals: number
}

/** A transaction that cannot be read, with what of it could be. */
export interface Malformed {
  readonly kind: 'malformed'
  readonly slot: number | null
  readonly index: number | null
  readonly signature: Uint8Array | null
  readonly reason: MalformedReason
}

/** Which part of a transaction was missing or contradicted itself. */
export type MalformedReason =
  | 'not_a_transaction'
  | 'no_meta'
  | 'bad_place'
  | 'bad_signature'
  | 'bad_account_keys'
  | 'bad_balances'
  | 'bad_token_balance'
  | 'bad_instruction'
  | 'unknown_encoding'
