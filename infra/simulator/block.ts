import type {
  SubscribeUpdateAccount,
  SubscribeUpdateTransactionInfo,
} from '@triton-one/yellowstone-grpc'

/** A block as the simulator serves it, over gRPC and RPC alike. */
export interface Block {
  readonly slot: number
  readonly parent: number
  /** Base58. */
  readonly blockhash: string
  readonly parentBlockhash: string
  /** Unix seconds. */
  readonly time: number
  readonly height: number
  /** Transactions in the order of their indexes. */
  readonly transactions: readonly SubscribeUpdateTransactionInfo[]
  /**
   * Accounts as the block left them: the SOL/USDC pool, and the pools that were traded on with
   * their vaults.
   */
  readonly accounts: readonly SubscribeUpdateAccount[]
}

/** The keys of a transaction by account index: static ones, then those from lookup tables. */
export function accountKeysOf(info: SubscribeUpdateTransactionInfo): Uint8Array[] {
  const { transaction, meta } = info
  return [
    ...(transaction?.message?.accountKeys ?? []),
    ...(meta?.loadedWritableAddresses ?? []),
    ...(meta?.loadedReadonlyAddresses ?? []),
  ]
}
