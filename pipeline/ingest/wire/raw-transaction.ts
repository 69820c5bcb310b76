import { decodeBase58 } from '../../domain/base58.ts'
import type { Malformed, Transaction } from '../../domain/transaction.ts'
import type { Wallets } from '../../domain/wallets.ts'
import type { RpcBlock } from '../rpc/solana-rpc.ts'
import type { FetchedBlock, PendingTransaction } from '../stream/sealer-events.ts'
import { fieldOf, itemsOf } from './json-field.ts'
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

/**
 * The transactions of a block that name a tracked wallet as an account key or as the owner of a
 * token balance.
 */
export function selectTracked(block: RpcBlock, wallets: Wallets): FetchedBlock<RawTransaction> {
  const { slot, parent, blockTime } = block
  const transactions: PendingTransaction<RawTransaction>[] = []
  block.transactions.forEach((json, index) => {
    if (!namesWallet(json, wallets)) return
    const signature = fieldOf(fieldOf(fieldOf(json, 'transaction'), 'signatures'), 0)
    const bytes = typeof signature === 'string' ? decodeBase58(signature) : null
    if (bytes === null) return
    const key = Buffer.from(bytes).toString('latin1')
    const item = { kind: 'rpc', slot, index, json } as const
    transactions.push({ key, index, bytes: sizeOf(item), item })
  })
  return { slot, parent, blockTime, transactions }
}

/** Whether a transaction in encoding `json` names a tracked wallet. Addresses are base58 there. */
function namesWallet(json: unknown, wallets: Wallets): boolean {
  const meta = fieldOf(json, 'meta')
  const loaded = fieldOf(meta, 'loadedAddresses')
  const isTracked = (address: unknown) =>
    typeof address === 'string' && wallets.numberOf(address) !== undefined
  const isOwned = (balance: unknown) => isTracked(fieldOf(balance, 'owner'))
  const message = fieldOf(fieldOf(json, 'transaction'), 'message')
  return (
    itemsOf(fieldOf(message, 'accountKeys')).some(isTracked) ||
    itemsOf(fieldOf(loaded, 'writable')).some(isTracked) ||
    itemsOf(fieldOf(loaded, 'readonly')).some(isTracked) ||
    itemsOf(fieldOf(meta, 'preTokenBalances')).some(isOwned) ||
    itemsOf(fieldOf(meta, 'postTokenBalances')).some(isOwned)
  )
}
