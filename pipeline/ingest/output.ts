import type { BlockId } from '../domain/block-id.ts'
import type { SolPrice, Withdrawal } from '../domain/slot.ts'
import type { Malformed, Transaction } from '../domain/transaction.ts'

/** One output of ingest, in chain order (rule K2). */
export type IngestOutput =
  | {
      readonly kind: 'slot'
      readonly slot: number
      readonly parent: number
      /** Unix seconds of the block. */
      readonly blockTime: number
      readonly blockId: BlockId | null
      /** Newest slot that is final. What follows from that was emitted before (rule K9). */
      readonly finalized: number | null
      /** Transactions of tracked wallets and of payments, by index in the block, each once. */
      readonly transactions: readonly Transaction[]
      /** Transactions that could not be decoded. */
      readonly malformed: readonly Malformed[]
      /**
       * The price pool's newest SOL/USD at or before the block time, this slot included (rule J7).
       */
      readonly solPrice: SolPrice | null
    }
  /** Everything emitted of this slot before never became final (rule K9). */
  | ({ readonly kind: 'withdrawn' } & Omit<Withdrawal, 'rewind'>)
  /** A transaction of a slot that was emitted before. */
  | {
      readonly kind: 'late'
      readonly slot: number
      readonly blockTime: number
      readonly blockId: BlockId | null
      readonly transaction: Transaction
      /**
       * `backfill`: found after a restart, and perhaps emitted before it. Must not be sent to a
       * socket.
       */
      readonly origin: 'stream' | 'backfill'
    }
  /** Slots `fromSlot`..`toSlot` are skipped for good. All wallets need a backfill. */
  | { readonly kind: 'gap'; readonly fromSlot: number; readonly toSlot: number }
