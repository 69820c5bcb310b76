import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import type { Block } from './block.ts'
import type { SlotKind } from './chain-shape.ts'

/** An account's state as RPC answers it. */
export interface AccountState {
  readonly lamports: bigint
  /** Base58. */
  readonly owner: string
  readonly data: Buffer
}

/** A token account of somebody. */
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
export interface Mentioned {
  readonly slot: number
  readonly index: number
  readonly failed: boolean
}

/** A chain as the servers serve it: the market's, or one of recorded blocks. */
export interface Chain {
  /** The first slot that ever had a block. */
  readonly firstSlot: number
  kind(slot: number): SlotKind
  /** The slot number that many steps of the clock later, or earlier: on a chain of recorded blocks the clock leaps over numbers. */
  step(slot: number, steps: number): number
  /** The newest produced slot before this one. */
  parent(slot: number): number
  /** The first produced slot from this one on; null when none comes up to `last`. */
  nextProduced(slot: number, last: number): number | null
  /** The block of a produced slot, or the one that a dead slot had on its fork. */
  block(slot: number): Block
  /** Where a transaction is; null when the chain has never had it. */
  find(signature: Uint8Array): { readonly slot: number; readonly index: number } | null
  /** One transaction of a block; undefined past the last. */
  transaction(slot: number, index: number): SubscribeUpdateTransactionInfo | undefined
  /** Signature of a transaction that is there. */
  signature(slot: number, index: number): Uint8Array
  /** Signatures of the transactions of a block. */
  signatures(slot: number): readonly Uint8Array[]
  /**
   * Transactions of blocks that name the key (32 bytes, one character each), in slots `from` down to `last`, newest first; null now and then, so that
   * others can be given a turn.
   */
  mentionsDown(keyId: string, from: number, last: number): Generator<Mentioned | null>
  /** What RPC's `getAccountInfo` finds; null for accounts that the chain does not know. */
  account(address: string, slot: number): AccountState | null
  tokenAccounts(owner: string, slot: number): readonly OwnedTokenAccount[]
}
