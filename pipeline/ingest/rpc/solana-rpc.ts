import type { Address } from '../../domain/address.ts'
import type { BlockId } from '../../domain/block-id.ts'

/**
 * The RPC methods for following the chain (rule J10). Calls reject with a `ServiceError`
 * `unavailable` once their attempts are used up.
 */
export interface SolanaRpc {
  /**
   * Sends one request. Rejects with `unreachable` (retriable) when no JSON-RPC server answers in 4
   * s.
   */
  ping(): Promise<void>
  /** The newest slot; `confirmed` by default. */
  getSlot(commitment?: Commitment): Promise<number>
  /**
   * Slots `from`..`to` that have a block, ascending; `confirmed` by default. Servers accept 500,000
   * slots at most.
   */
  getBlocks(from: number, to: number, commitment?: Commitment): Promise<number[]>
  /**
   * A block, `confirmed` by default. `absent`: the chain has no such block, or this server deleted
   * it. `not_yet`: ask again later.
   */
  getBlock(slot: number, commitment?: Commitment): Promise<RpcBlock | 'absent' | 'not_yet'>
  /** Parent and id of a finalized block. */
  getBlockHead(slot: number): Promise<BlockHead | 'absent' | 'not_yet'>
  /**
   * Accounts in the order of the addresses, 100 at most; null for an account that does not exist.
   */
  getMultipleAccounts(addresses: readonly Address[]): Promise<(RpcAccount | null)[]>
  /** Aborts all calls and refuses new ones. */
  close(): void
}

/** How settled a block is. */
export type Commitment = 'confirmed' | 'finalized'

/** A block's place on its chain. */
export type BlockHead = Pick<RpcBlock, 'slot' | 'parent' | 'blockId'>

/** Accounts together with the slot at which they were read. */
export interface AccountsRpc {
  /**
   * Like `getMultipleAccounts` of `SolanaRpc`. Retries while the server has not reached slot
   * `minContextSlot`.
   */
  getAccountsAt(
    addresses: readonly Address[],
    minContextSlot?: number,
  ): Promise<{ readonly slot: number; readonly accounts: readonly (RpcAccount | null)[] }>
}

/**
 * The RPC methods for a backfill (rule J10), at the commitment of `createRpc`. Failed requests are
 * retried as in `SolanaRpc`.
 */
export interface HistoryRpc {
  /**
   * Transactions that name the address, failed ones too, newest first, 1000 at most. `before` and
   * `until` are signatures: the page lies between them, both excluded. Retries while the server has
   * not reached slot `minContextSlot`.
   */
  getSignaturesForAddress(
    address: Address,
    page: {
      readonly limit: number
      readonly before?: string | undefined
      readonly until?: string | undefined
      readonly minContextSlot?: number | undefined
      /** By default that of `createRpc`. */
      readonly commitment?: Commitment
    },
  ): Promise<SignatureInfo[]>
  /** The transaction as JSON in encoding `json`; null when this server does not have it. */
  getTransaction(signature: string): Promise<unknown>
  /** Signatures of a block in block order, with its time. `absent`, `not_yet`: as in `getBlock`. */
  getBlockSignatures(slot: number): Promise<BlockSignatures | 'absent' | 'not_yet'>
  /** Unix seconds of a block; null when the server has no block of that slot. */
  getBlockTime(slot: number): Promise<number | null>
  /** The oldest block of the server; null when it does not support the method (rule J10). */
  getFirstAvailableBlock(): Promise<number | null>
  /** Token accounts that the owner has now, of both token programs. */
  getTokenAccountsByOwner(owner: Address): Promise<Address[]>
}

/**
 * The RPC methods for finding payments (rule J10). Failed requests are retried as in `SolanaRpc`.
 */
export interface PaymentRpc {
  /**
   * Amounts in the owner's token accounts of a mint, in raw units, at commitment `finalized`, and
   * the slot at which they were read.
   */
  getTokenAmounts(
    owner: Address,
    mint: Address,
  ): Promise<{ readonly slot: number; readonly amounts: ReadonlyMap<Address, bigint> }>
}

/** One entry of an address's history. */
export interface SignatureInfo {
  readonly signature: string
  readonly slot: number
  readonly failed: boolean
  /** Unix seconds; null when the server does not know it. */
  readonly blockTime: number | null
}

/** The signatures of a block's transactions, in block order. */
export interface BlockSignatures {
  /** Unix seconds; null when the server does not know it. */
  readonly blockTime: number | null
  readonly signatures: readonly string[]
}

/** A whole block. */
export interface RpcBlock {
  readonly slot: number
  readonly parent: number
  /** Unix seconds. */
  readonly blockTime: number
  /** Null if the server answers no hash. */
  readonly blockId: BlockId | null
  /** Entries of `getBlock` in encoding `json`, in block order. */
  readonly transactions: readonly unknown[]
}

/** An account: the program that owns it, in base58, and its data. */
export interface RpcAccount {
  readonly owner: string
  readonly data: Uint8Array
}

/** Maximum number of accounts of one `getMultipleAccounts` call. */
export const MAX_ACCOUNTS_PER_CALL = 100
