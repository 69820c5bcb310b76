import type { Malformed, Transaction } from '../../domain/transaction.ts'
import { normalizeGrpc } from './normalize-grpc.ts'
import { normalizeRpc } from './normalize-rpc.ts'
import { readTransactionInfo, readTransactionUpdate } from './read-transaction-update.ts'

/**
 * A transaction as it was received.
 * - `grpc`: an encoded update of the stream.
 * - `rpc`: an entry of a block over RPC.
 * - `kept`: a stored transaction (`Transaction.encoded`).
 */
export type RawTransaction =
  | { readonly kind: 'grpc'; readonly bytes: Uint8Array }
  | { readonly kind: 'kept'; readonly slot: number; readonly bytes: Uint8Array }
  | { readonly kind: 'rpc'; readonly slot: number; readonly index: number; readonly json: unknown }

/** Decodes and checks a transaction. Never throws. */
export function normalize(raw: RawTransaction): Transaction | Malformed {
  if (raw.kind === 'rpc') return normalizeRpc(raw.json, raw)
  const update =
    raw.kind === 'kept'
      ? readTransactionInfo(raw.slot, raw.bytes)
      : readTransactionUpdate(raw.bytes)
  if (update !== null) return normalizeGrpc(update)
  return {
    kind: 'malformed',
    slot: null,
    index: null,
    signature: null,
    reason: 'not_a_transaction',
  }
}

/** Bytes of memory that a transaction occupies; an estimate for JSON. */
export function sizeOf(raw: RawTransaction): number {
  return raw.kind === 'rpc' ? 16_384 : raw.bytes.length
}
