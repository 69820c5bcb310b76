import type { Address } from '../domain/address.ts'
import type { SolanaRpc } from './rpc.ts'

/** Decimals of mints that no transaction told, from RPC (decisions J8). */
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
          const decimals =
            account && isTokenProgram(account.owner) ? readDecimals(account.data) : null
          if (decimals !== null) known.set(mint, decimals)
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
const MOST_ACCOUNTS = 100

function isTokenProgram(owner: string): boolean {
  return (
    owner === 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' ||
    owner === 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
  )
}

/** Mint of the Token programs, 82 bytes and extensions: 0 COption<Pubkey> authority, 36 u64 supply, 44 u8 decimals, 45 bool initialised, ... */
function readDecimals(mint: Uint8Array): number | null {
  return mint.length >= 82 && mint[45] === 1 ? (mint[44] ?? null) : null
}
