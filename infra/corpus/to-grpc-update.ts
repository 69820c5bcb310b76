import { SubscribeUpdate, type SubscribeUpdateTransaction } from '@triton-one/yellowstone-grpc'
import { infoFromJson } from '../simulator/rpc/info-from-json.ts'
import type { TransactionJson } from '../simulator/rpc/transaction-json.ts'

/** A transaction of RPC JSON in the `json` encoding, as far as the converters here read it. */
export type JsonTransaction = Pick<TransactionJson, 'version' | 'transaction' | 'meta'>

/**
 * The Yellowstone update that a server would have sent for a transaction in the `json` encoding,
 * passed once through the wire codec so that it is what a client gets. Every error is
 * `InstructionError`.
 */
export function toGrpcUpdate(
  json: unknown,
  slot: number,
  index: number,
): SubscribeUpdateTransaction {
  // The cast is safe: the JSON was built by tests or taken from the corpus.
  const { transaction, meta, version } = json as JsonTransaction
  const failed = meta.err != null || 'Err' in (meta.status ?? {}) // tests leave the status out
  const info = infoFromJson({ version, transaction, meta: { ...meta, err: null } }, index)
  const err = failed ? { err: Uint8Array.of(8, 0, 0, 0) } : undefined
  const update = SubscribeUpdate.fromPartial({
    filters: ['wallets'],
    transaction: {
      slot: String(slot),
      transaction: { ...info, isVote: false, meta: { ...info.meta, err } },
    },
  })
  // The client decodes from a Buffer, and every bytes field is a part of it.
  const received = SubscribeUpdate.decode(Buffer.from(SubscribeUpdate.encode(update).finish()))
  if (received.transaction === undefined) throw new Error('the codec lost the transaction')
  return received.transaction
}
