import type { Address } from '../../domain/address.ts'
import { readMint } from './mint-account.ts'
import type { SolanaRpc } from './rpc.ts'

/** Decimals of mints that no transaction told, from RPC (rule J8). */
export interface MintDecimals {
  /** Undefined when not looked up yet, or when there is no such mint. */
  of(mint: Address): number | undefined
  /** Looks the mints up; what is no mint stays undefined. Rejects like `SolanaRpc`. */
  load(mints: readonly Address[]): Promise<void>
}

/** Keeps the `limit` mints looked up last. */
export function createMintDecimals(rpc: SolanaRpc, limit = 50_000): MintDecimals {
  const known = new Map<Address, number>()
  return {
    of: (mint) => known.get(mint),
    async load(mints) {
      const wanted = mints.filter((mint) => !known.has(mint))
      for (let at = 0; at < wanted.length; at += MOST_ACCOUNTS) {
        const batch = wanted.slice(at, at + MOST_ACCOUNTS)
        const accounts = await rpc.getMultipleAccounts(batch)
        batch.forEach((mint, place) => {
          const account = accounts[place]
          const found = account && readMint(account, mint)
          if (found) known.set(mint, found.decimals)
        })
      }
      for (const oldest of known.keys()) {
        if (known.size <= limit) break
        known.delete(oldest)
      }
    },
  }
}

/** What one `getMultipleAccounts` takes. */
export const MOST_ACCOUNTS = 100
