import type { SolPrice } from '../domain/slot.ts'
import type { Malformed, Transaction } from '../domain/transaction.ts'

/** What ingest hands on, in the order of the chain (rule K2). */
export type IngestOutput =
  | {
      readonly kind: 'slot'
      readonly slot: number
      readonly parent: number
      /** Unix seconds of the block. */
      readonly blockTime: number
      /** By index in the block, each once. */
      readonly transactions: readonly Transaction[]
      /** What could not be read as a transaction. */
      readonly malformed: readonly Malformed[]
      /** The pool's newest SOL/USD price at or before the block time; what the slot itself brought is in it (rule J7). */
      readonly solPrice: SolPrice | null
    }
  /** A transaction of a slot that was handed on already. */
  | {
      readonly kind: 'late'
      readonly slot: number
      readonly blockTime: number
      readonly transaction: Transaction
      /** `backfill`: found by looking again after a restart, and perhaps handed on before; never for a socket. */
      readonly origin: 'stream' | 'backfill'
    }
  /** Slots `fromSlot`..`toSlot` were not seen and will not come; wallets are to be backfilled. */
  | { readonly kind: 'gap'; readonly fromSlot: number; readonly toSlot: number }
