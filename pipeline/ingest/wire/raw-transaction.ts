import { decodeBase58 } from '../../domain/base58.ts'
import type { Malformed, Transaction } from '../../domain/transaction.ts'
import type { Wallets } from '../../domain/wallets.ts'
import type { RpcBlock } from '../rpc/solana-rpc.ts'
import type { FetchedBlock, PendingTransaction } from '../stream/sealer-events.ts'
import { normalizeGrpc } from './normalize-grpc.ts'
import { normalizeRpc } from './normalize-rpc.ts'
import { readTransactionInfo, readTransactionUpdate } from './transaction-update.ts'

/** A transaction as it came: an encoded update of the stream, an entry of a block over RPC, or what was kept of one (`Transaction.encoded`). */
export type RawTransaction =
  | { readonly kind: 'grpc'; readonly bytes: Uint8Array }
  | { readonly kind: 'kept'; readonly slot: number; readonly bytes: Uint8Array }
  | { readonly kind: 'rpc'; readonly slot: number; readonly index: number; readonly json: unknown }

/** Reads it in full. Never throws. */
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

/** Bytes that it keeps in memory; of JSON a guess. */
export function sizeOf(raw: RawTransaction): number {
  return raw.kind === 'rpc' ? 16_384 : raw.bytes.length
}

/** The transactions of a block that name a tracked wallet as a key or as the owner of a token balance, for the sealer. */
export function trackedOf(block: RpcBlock, wallets: Wallets): FetchedBlock<RawTransaction> {
  const { slot, parent, blockTime } = block
  const transactions: PendingTransaction<RawTransaction>[] = []
  block.transactions.forEach((json, index) => {
    if (!namesWallet(json, wallets)) return
    const signature = at(at(at(json, 'transaction'), 'signatures'), 0)
    const bytes = typeof signature === 'string' ? decodeBase58(signature) : null
    if (bytes === null) return
    const key = Buffer.from(bytes).toString('latin1')
    const item = { kind: 'rpc', slot, index, json } as const
    transactions.push({ key, index, bytes: sizeOf(item), item })
  })
  return { slot, parent, blockTime, transactions }
}

/** Encoding `json` names every key and owner by its base58 text. */
function namesWallet(json: unknown, wallets: Wallets): boolean {
  const meta = at(json, 'meta')
  const loaded = at(meta, 'loadedAddresses')
  const tracked = (address: unknown) =>
    typeof address === 'string' && wallets.numberOf(address) !== undefined
  return (
    list(at(at(at(json, 'transaction'), 'message'), 'accountKeys')).some(tracked) ||
    list(at(loaded, 'writable')).some(tracked) ||
    list(at(loaded, 'readonly')).some(tracked) ||
    list(at(meta, 'preTokenBalances')).some((balance) => tracked(at(balance, 'owner'))) ||
    list(at(meta, 'postTokenBalances')).some((balance) => tracked(at(balance, 'owner')))
  )
}

function at(value: unknown, key: string | number): unknown {
  // Of anything that is an object, any key may be asked.
  return typeof value === 'object' && value !== null
    ? (value as Record<string | number, unknown>)[key]
    : undefined
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
