import type { Address } from './address.ts'

/**
 * A transaction with its outcome, the same whether it came as Yellowstone protobuf or as RPC JSON. Accounts are named by
 * their index in `accountKeys`, so that nothing is turned into base58 that does not leave the process.
 */
export interface Transaction {
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
  /** Lamports by account index. */
  readonly preBalances: readonly bigint[]
  readonly postBalances: readonly bigint[]
  readonly preTokenBalances: readonly TokenBalance[]
  readonly postTokenBalances: readonly TokenBalance[]
  /** Every instruction in order of execution: each top-level one followed by all that it called. */
  readonly instructions: readonly Instruction[]
  /** Null when the node kept none. */
  readonly logs: readonly string[] | null
}

export interface Instruction {
  /** Index of the program in `accountKeys`. */
  readonly programIndex: number
  /** Account indexes, in the instruction's order. */
  readonly accounts: Uint8Array
  readonly data: Uint8Array
  /** 1 for a top-level instruction, 2 for what it called, and so on. Old nodes did not tell: then all inner ones are 2. */
  readonly stackHeight: number
}

export interface TokenBalance {
  readonly accountIndex: number
  readonly mint: Address
  /** Null for nodes and blocks older than the field. */
  readonly owner: Address | null
  /** Raw units. */
  readonly amount: bigint
  readonly decimals: number
}
