import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import { readWireTransaction } from '../../../pipeline/ingest/wire/wire-transaction.ts'
import { signedFromJson } from '../rpc/info-from-json.ts'
import type { TransactionErrorJson } from '../rpc/transaction-error.ts'

/**
 * A transaction that was refused. `reason` is the error as RPC writes it; null when the transaction
 * cannot be read.
 */
export class TransactionRefused extends Error {
  readonly reason: TransactionErrorJson | null
  readonly logs: readonly string[]
  constructor(message: string, reason: TransactionErrorJson | null, logs: readonly string[] = []) {
    super(message)
    this.reason = reason
    this.logs = logs
  }
}

/** A transaction of any version, as a client sent it. */
export interface SentTransaction {
  readonly signed: NonNullable<SubscribeUpdateTransactionInfo['transaction']>
  /** The first signature, 64 bytes. */
  readonly signature: Uint8Array
  /** Account keys, base58. */
  readonly keys: readonly string[]
  /** The signed bytes: what precedes the signatures in version 1, else what follows them. */
  readonly messageBytes: Uint8Array
}

/** Reads the bytes of a signed transaction. Throws `TransactionRefused` for unreadable ones. */
export function readSentTransaction(wire: Uint8Array): SentTransaction {
  const read = readWireTransaction(wire)
  if (read === null) throw new TransactionRefused('failed to deserialize the transaction', null)
  const { accountKeys: keys, addressTableLookups = [] } = read.transaction.message
  if (addressTableLookups.length > 0)
    throw new TransactionRefused('address lookup tables are not known here', null)
  const signed = signedFromJson(read)
  const signatureBytes = 64 * signed.signatures.length
  const messageBytes =
    read.version === 1 ? wire.subarray(0, -signatureBytes) : wire.subarray(1 + signatureBytes)
  return { signed, signature: signed.signatures[0]!, keys, messageBytes }
}
