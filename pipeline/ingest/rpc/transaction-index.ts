import { LRUCache } from 'lru-cache'
import type { BlockSignatures, HistoryRpc } from './solana-rpc.ts'

/** Finds the index of a transaction in its block. `getTransaction` does not return it. */
export interface TransactionIndexes {
  /**
   * The index of a transaction in its block, and the block's time in unix seconds. Null when the
   * server does not have the block, or the block does not have the signature. Rejects like
   * `HistoryRpc`.
   */
  of(
    slot: number,
    signature: string,
  ): Promise<{ readonly index: number; readonly blockTime: number | null } | null>
}

/**
 * Indexes from `getBlockSignatures`, with a cache of the blocks used last. The cache holds at most
 * `maxSignatures`, of some 100 bytes each. Concurrent calls for one block share a request.
 */
export function createTransactionIndexes(
  rpc: Pick<HistoryRpc, 'getBlockSignatures'>,
  maxSignatures = 200_000,
): TransactionIndexes {
  const blocks = new LRUCache<number, BlockSignatures>({
    maxSize: maxSignatures,
    sizeCalculation: ({ signatures }) => Math.max(1, signatures.length),
    // Evicting a block that is being fetched must not fail the callers that wait for it.
    ignoreFetchAbort: true,
    async fetchMethod(slot) {
      const block = await rpc.getBlockSignatures(slot)
      return typeof block === 'string' ? undefined : block // undefined is not cached
    },
  })
  return {
    async of(slot, signature) {
      const block = await blocks.fetch(slot)
      if (block === undefined) return null
      const index = block.signatures.indexOf(signature)
      return index < 0 ? null : { index, blockTime: block.blockTime }
    },
  }
}
