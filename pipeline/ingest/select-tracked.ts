import { decodeBase58 } from '../domain/base58.ts'
import type { Wallets } from '../domain/wallets.ts'
import type { RpcBlock } from './rpc/solana-rpc.ts'
import type { FetchedBlock, PendingTransaction } from './stream/sealer-events.ts'
import { fieldOf, itemsOf } from './wire/json-field.ts'
import { type RawTransaction, sizeOf } from './wire/raw-transaction.ts'

/**
 * The transactions of a block that name a tracked wallet as an account key or as the owner of a
 * token balance.
 */
export function selectTracked(block: RpcBlock, wallets: Wallets): FetchedBlock<RawTransaction> {
  const { slot, parent, blockTime, blockId } = block
  const transactions: PendingTransaction<RawTransaction>[] = []
  block.transactions.forEach((json, index) => {
    if (!namesWallet(json, wallets)) return
    const signature = fieldOf(fieldOf(fieldOf(json, 'transaction'), 'signatures'), 0)
    const key = typeof signature === 'string' ? keyOfSignature(signature) : null
    if (key === null) return
    const item = { kind: 'rpc', slot, index, json } as const
    transactions.push({ key, index, bytes: sizeOf(item), item })
  })
  return { slot, parent, blockTime, blockId, transactions }
}

/** The key of the transaction with a base58 signature (`PendingTransaction`); null: it is none. */
export function keyOfSignature(signature: string): string | null {
  const bytes = decodeBase58(signature)
  return bytes === null ? null : Buffer.from(bytes).toString('latin1')
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
