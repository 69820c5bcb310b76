import type { Transaction } from '../domain/transaction.ts'
import type { Wallets } from '../domain/wallets.ts'

/** The tracked wallets that a transaction names. */
export interface NamedWallets {
  /** Wallet numbers, ascending. */
  readonly wallets: readonly number[]
  /** Addresses, in the order of `wallets`. */
  readonly addresses: readonly string[]
  /** Whether a token balance names one of the wallets as its owner. */
  readonly ownTokens: boolean
  /** Wallet number of each account key; 0 for keys that are not tracked. */
  readonly atKey: Uint32Array
}

/**
 * Finds tracked wallets among the account keys and the owners of token accounts. Returns null when
 * there are none, as for most transactions. Costs one probe per key and one map lookup per owner,
 * however many wallets are tracked.
 */
export function findNamedWallets(tx: Transaction, wallets: Wallets): NamedWallets | null {
  const { accountKeys } = tx
  let found: number[] | null = null
  let atKey: Uint32Array | null = null
  for (let i = 0; i < accountKeys.length; i++) {
    const wallet = wallets.numberOfKey(accountKeys[i]!)
    if (wallet === undefined) continue
    atKey ??= new Uint32Array(accountKeys.length)
    atKey[i] = wallet
    found = add(found, wallet)
  }
  let ownTokens = false
  for (const owner of tx.tokenOwners) {
    const wallet = wallets.numberOf(owner)
    if (wallet === undefined) continue
    found = add(found, wallet)
    ownTokens = true
  }
  if (found === null) return null
  found.sort((a, b) => a - b)
  return {
    wallets: found,
    ownTokens,
    addresses: found.map((wallet) => wallets.addressOf(wallet)),
    atKey: atKey ?? new Uint32Array(accountKeys.length),
  }
}

function add(found: number[] | null, wallet: number): number[] {
  if (found === null) return [wallet]
  if (!found.includes(wallet)) found.push(wallet)
  return found
}
