import { LRUCache } from 'lru-cache'
import type { Address } from '../../domain/address.ts'
import { readMint } from './mint-account.ts'
import { MAX_ACCOUNTS_PER_CALL, type SolanaRpc } from './solana-rpc.ts'

/**
 * A cache of the decimals of mints, read over RPC for mints that no transaction describes (rule
 * J8).
 */
export interface MintDecimals {
  /** The decimals; undefined when the mint is not in the cache or does not exist. */
  of(mint: Address): number | undefined
  /**
   * Reads mints into the cache. Addresses without a mint stay undefined. Rejects like `SolanaRpc`.
   */
  load(mints: readonly Address[]): Promise<void>
}

/** A cache that evicts the least recently used mints above `limit`. */
export function createMintDecimals(
  rpc: Pick<SolanaRpc, 'getMultipleAccounts'>,
  limit = 50_000,
): MintDecimals {
  const decimals = new LRUCache<Address, number>({ max: limit })
  return {
    of: (mint) => decimals.get(mint),
    async load(mints) {
      const wanted = mints.filter((mint) => decimals.get(mint) === undefined)
      for (let start = 0; start < wanted.length; start += MAX_ACCOUNTS_PER_CALL) {
        const batch = wanted.slice(start, start + MAX_ACCOUNTS_PER_CALL)
        const accounts = await rpc.getMultipleAccounts(batch)
        batch.forEach((mint, index) => {
          const account = accounts[index]
          const found = account && readMint(account, mint)
          if (found) decimals.set(mint, found.decimals)
        })
      }
    },
  }
}
