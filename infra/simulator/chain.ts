import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import type { Block } from './block.ts'
import type { SlotKind } from './chain-shape.ts'

/** The state of an account, as RPC returns it. */
export interface AccountState {
  readonly lamports: bigint
  /** Base58. */
  readonly owner: string
  readonly data: Buffer
}

/** A token account and its owner. */
export interface OwnedTokenAccount {
  readonly address: string
  readonly mint: string
  readonly owner: string
  readonly program: string
  readonly amount: bigint
  readonly decimals: number
  readonly lamports: bigint
}

/** A transaction that names an address. */
export interface TransactionMention {
  readonly slot: number
  readonly index: number
  readonly failed: boolean
}

/** A chain as the servers see it: the market's, or one of recorded blocks. */
export interface SimulatedChain {
  /** The first slot that ever had a block. */
  readonly firstSlot: number
  kind(slot: number): SlotKind
  /**
   * The slot that many clock steps later, or earlier if negative. Slot numbers of recorded blocks
   * have gaps.
   */
  step(slot: number, steps: number): number
  /** The newest produced slot before this one. */
  parent(slot: number): number
  /** The first produced slot at or after this one; null when there is none up to `last`. */
  nextProduced(slot: number, last: number): number | null
  /** The block of a produced slot, or the block that a dead slot had on its fork. */
  block(slot: number): Block
  /** The place of a transaction; null when the chain has never had it. */
  find(signature: Uint8Array): { readonly slot: number; readonly index: number } | null
  /** One transaction of a block; undefined past the last. */
  transaction(slot: number, index: number): SubscribeUpdateTransactionInfo | undefined
  /** Signature of a transaction that exists. */
  signature(slot: number, index: number): Uint8Array
  /** Signatures of the transactions of a block. */
  signatures(slot: number): readonly Uint8Array[]
  /**
   * Transactions that name a key (`keyId`), in slots `from` down to `last`, newest first. Yields
   * null occasionally, so that the caller can give way to other work.
   */
  mentionsDown(keyId: string, from: number, last: number): Generator<TransactionMention | null>
  /** The account that RPC's `getAccountInfo` finds; null for accounts unknown to the chain. */
  account(address: string, slot: number): AccountState | null
  tokenAccounts(owner: string, slot: number): readonly OwnedTokenAccount[]
}
