/**
 * The fields of a `SubscribeUpdateTransaction` that the service uses, named as in the package's
 * codec. Values of that codec have these types too. It returns 64-bit integers as text; this reader
 * returns numbers or bigints.
 */
export interface GrpcTransactionUpdate {
  readonly slot: string | number
  readonly transaction?: TransactionInfo | undefined
}

/** `SubscribeUpdateTransactionInfo`. */
export interface TransactionInfo {
  /** The bytes of this message. */
  readonly encoded?: Uint8Array | undefined
  readonly signature: Uint8Array
  readonly index: string | number
  readonly transaction?: { readonly message?: MessageUpdate | undefined } | undefined
  readonly meta?: MetaUpdate | undefined
}

/** `Message`. */
export interface MessageUpdate {
  readonly header?: { readonly numRequiredSignatures: number } | undefined
  readonly accountKeys: readonly Uint8Array[]
  readonly instructions: readonly InstructionUpdate[]
}

/** `CompiledInstruction`, or `InnerInstruction` with a stack height. */
export interface InstructionUpdate {
  readonly programIdIndex: number
  readonly accounts: Uint8Array
  readonly data: Uint8Array
  readonly stackHeight?: number | undefined
}

/** `TransactionStatusMeta`. */
export interface MetaUpdate {
  readonly err?: unknown
  readonly fee: Integer
  readonly preBalances: readonly Integer[]
  readonly postBalances: readonly Integer[]
  readonly innerInstructions: readonly InnerInstructionsUpdate[]
  readonly innerInstructionsNone: boolean
  readonly logMessages: string[]
  readonly logMessagesNone: boolean
  readonly preTokenBalances: readonly TokenBalanceUpdate[]
  readonly postTokenBalances: readonly TokenBalanceUpdate[]
  readonly loadedWritableAddresses: readonly Uint8Array[]
  readonly loadedReadonlyAddresses: readonly Uint8Array[]
}

/** `InnerInstructions`: those of the top-level instruction at `index`. */
export interface InnerInstructionsUpdate {
  readonly index: number
  readonly instructions: readonly InstructionUpdate[]
}

/** `TokenBalance`. */
export interface TokenBalanceUpdate {
  readonly accountIndex: number
  readonly mint: string
  /** Owner of the token account; empty when the node does not know it. */
  readonly owner: string
  readonly uiTokenAmount?: { readonly amount: string; readonly decimals: number } | undefined
}

/** A 64-bit integer. */
export type Integer = string | number | bigint
