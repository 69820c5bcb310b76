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
  /** Indexes of the slot's transactions that name the key (32 bytes, one character each), in order. */
  mentions(keyId: string, slot: number): readonly number[]
  /** What RPC's `getAccountInfo` finds; null for accounts that the chain does not know. */
  account(address: string, slot: number): AccountState | null
  tokenAccounts(owner: string, slot: number): readonly OwnedTokenAccount[]
}
