import type { BlockId } from '../../domain/block-id.ts'

/**
 * Inputs and outputs of the slot sealer (rule K2). `T` is a transaction and `A` an account update.
 * Both are opaque to the sealer: they stay encoded until their slot is sealed.
 */

/** One transaction that waits for its slot to be sealed. */
export interface PendingTransaction<T> {
  /** The signature, one latin-1 character per byte. */
  readonly key: string
  /** Index in the block. */
  readonly index: number
  /**
   * Bytes of memory that `item` occupies. Two transactions with the same signature and different
   * sizes are both kept, because one of them may be malformed.
   */
  readonly bytes: number
  readonly item: T
}

/**
 * A confirmed block read over RPC. `transactions` holds those of tracked wallets, by block index.
 */
export interface FetchedBlock<T> {
  readonly slot: number
  readonly parent: number
  /** Unix seconds of the block. */
  readonly blockTime: number
  /** Null if its hash is not known. */
  readonly blockId: BlockId | null
  readonly transactions: readonly PendingTransaction<T>[]
}

/** A sealed block, and the keys of those of its transactions that were emitted before the start. */
export interface EmittedBlock
  extends Pick<FetchedBlock<unknown>, 'slot' | 'blockTime' | 'blockId'> {
  readonly keys: readonly string[]
}

/**
 * An update of the watched account. The highest write version in a slot is the account's last
 * state.
 */
export interface AccountUpdateEvent<A> {
  readonly kind: 'account'
  readonly slot: number
  readonly writeVersion: number
  readonly account: A
}

/** One input of the slot sealer. Events of the stream may come in any order and more than once. */
export type SealerEvent<T, A> =
  | {
      readonly kind: 'transaction'
      readonly slot: number
      readonly transaction: PendingTransaction<T>
    }
  | AccountUpdateEvent<A>
  /** The block meta. It follows the transactions of its slot. */
  | {
      readonly kind: 'meta'
      readonly slot: number
      readonly parent: number
      readonly blockTime: number
      readonly blockId: BlockId | null
    }
  | { readonly kind: 'confirmed'; readonly slot: number }
  | { readonly kind: 'dead'; readonly slot: number }
  /** A whole confirmed block over RPC: the response to a `fetch`, or one block of a gap. */
  | ({ readonly kind: 'block' } & FetchedBlock<T>)
  /** The response to a `fetch`: the confirmed chain has no such block. */
  | { readonly kind: 'absent'; readonly slot: number }
  /** The response to a `fetch`: RPC does not give the block. The chain goes on behind a gap. */
  | { readonly kind: 'refused'; readonly slot: number }
  /** Blocks up to the head at the start, and what was emitted of them; before any `recheck`. */
  | { readonly kind: 'emitted'; readonly blocks: readonly EmittedBlock[] }
  /** A block at or below the head, read again to find transactions that a closed stream missed. */
  | ({ readonly kind: 'recheck' } & FetchedBlock<T>)
  /** The finalized chain does not have this sealed block (rule K9). */
  | { readonly kind: 'withdraw'; readonly slot: number; readonly blockId: BlockId | null }
  /** A whole finalized block at or below the head that was not sealed. */
  | ({ readonly kind: 'final' } & FetchedBlock<T>)
  /**
   * A new stream replaces the previous one. `replayed`: the new stream starts right after the head
   * and repeats every open slot in full. Otherwise the new stream may start in the middle of a
   * slot; that slot and the missing slots before it are fetched at once.
   */
  | { readonly kind: 'cut'; readonly replayed: boolean }
  /** Drops every slot that is not sealed. The next stream replays them. */
  | { readonly kind: 'clear' }
  /** Drops the head: the gap is too long. The chain resumes with the stream's first whole slot. */
  | { readonly kind: 'jump' }
  /** A timer event, which lets waits expire. */
  | { readonly kind: 'tick' }

/** A slot of the confirmed chain with all its transactions. */
export interface SealedSlot<T, A> {
  readonly kind: 'sealed'
  readonly slot: number
  readonly parent: number
  readonly blockTime: number
  readonly blockId: BlockId | null
  /** By index in the block; variants of one transaction in order of arrival. */
  readonly transactions: readonly T[]
  /** The last update of the watched account in this slot, if any. */
  readonly account: A | null
}

/**
 * A transaction of a slot that was sealed before. Origin `backfill`: it is unknown whether the
 * transaction was emitted before a restart (rule K2).
 */
export interface LateTransaction<T> {
  readonly kind: 'late'
  readonly slot: number
  readonly blockTime: number
  readonly blockId: BlockId | null
  readonly transaction: T
  readonly origin: 'stream' | 'backfill'
}

/** One output of the slot sealer. */
export type SealerOutput<T, A> =
  | SealedSlot<T, A>
  | LateTransaction<T>
  /** Everything emitted of this slot before is void. */
  | { readonly kind: 'withdrawn'; readonly slot: number; readonly blockId: BlockId | null }
  /** Asks for a block over RPC, answered by a `block` or `absent` event. Emitted once per slot. */
  | { readonly kind: 'fetch'; readonly slot: number }
  /** Slots `fromSlot`..`toSlot` were never seen. All later outputs lie after them. */
  | { readonly kind: 'gap'; readonly fromSlot: number; readonly toSlot: number }

/**
 * Why the sealer dropped a transaction.
 * - `duplicate`: the same transaction was received before.
 * - `passed_over`: its slot was skipped, dead or part of an abandoned fork.
 * - `too_old`: its slot is older than every remembered slot.
 */
export type DropReason = 'duplicate' | 'passed_over' | 'too_old'

/** Number of dropped transactions by reason. */
export type DropCounts = Record<DropReason, number>
