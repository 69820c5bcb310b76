import { PublicKey } from '@solana/web3.js'
import type { TokenBalance } from '../domain/transaction.ts'
import type { MovementContext, Step } from './movements.ts'

/** Wallet number that owns the account of a token balance; 0 for accounts of nobody who is tracked. */
export type TokenOwners = (balance: TokenBalance) => number

/**
 * Owners of token accounts before and after the transaction. Escrows of an order belong to its owner (decisions B2a). Balances of blocks before the end of 2021 name
 * no owner: then an account is a named wallet's when it was made for that wallet, when that wallet moved, closed or lent it, or when it is its associated account.
 */
export function tokenOwners(context: MovementContext, steps: readonly Step[]): TokenOwners {
  const { wallets, named, orders } = context
  const inferred = new Map<number, number>()
  return ({ accountIndex, mint, owner }) => {
    const escrow = orders.escrows.get(accountIndex)
    if (escrow !== undefined) return escrow
    if (owner === null) {
      const known = inferred.get(accountIndex)
      if (known !== undefined) return known
      const found = inferOwner(context, steps, accountIndex, mint)
      inferred.set(accountIndex, found)
      return found
    }
    const wallet = wallets.numberOf(owner)
    return wallet !== undefined && named.wallets.includes(wallet) ? wallet : 0
  }
}

function inferOwner(
  { tx, named, wallets }: MovementContext,
  steps: readonly Step[],
  account: number,
  mint: string,
): number {
  for (const { program, instruction } of steps) {
    if (program !== 'token') continue
    const { kind } = instruction
    if (kind === 'initialize_account' && instruction.account === account) {
      const { owner } = instruction
      const wallet = typeof owner === 'number' ? named.atKey[owner] : wallets.numberOfKey(owner)
      if (wallet !== undefined && named.wallets.includes(wallet)) return wallet
    }
    if (kind !== 'transfer' && kind !== 'burn' && kind !== 'close' && kind !== 'approve') continue
    const moved = kind === 'transfer' ? instruction.source : instruction.account
    const { authority } = instruction
    if (moved === account && authority !== null && named.atKey[authority]! !== 0) {
      return named.atKey[authority]!
    }
  }
  const address = new PublicKey(tx.accountKeys[account]!)
  const keyIndex = tx.accountKeys.findIndex((key, i) => {
    if (named.atKey[i] === 0) return false
    return associatedAccount(key, mint)?.equals(address) ?? false
  })
  return keyIndex === -1 ? 0 : named.atKey[keyIndex]!
}

const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')

/** Where a wallet's tokens of a mint lie unless it chose otherwise; null when the mint's text is no address. */
function associatedAccount(wallet: Uint8Array, mint: string): PublicKey | null {
  try {
    const seeds = [wallet, TOKEN_PROGRAM.toBytes(), new PublicKey(mint).toBytes()]
    return PublicKey.findProgramAddressSync(seeds, ASSOCIATED_TOKEN_PROGRAM)[0]
  } catch {
    return null // web3.js throws on text that is no key
  }
}
