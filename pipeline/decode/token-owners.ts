import { createHash } from 'node:crypto'
import { type Address, address, addressBytes } from '../domain/address.ts'
import { decodeBase58 } from '../domain/base58.ts'
import type { TokenBalance } from '../domain/transaction.ts'
import type { MovementContext } from './movements.ts'

/**
 * Says whose a token account was before and after the transaction. Escrows of an order belong to its owner (rule B2a). Balances of blocks before the end of 2021
 * name no owner: then an account is a named wallet's when it was made for that wallet, when that wallet moved, closed or lent it, or when it is its
 * associated account.
 */
export class TokenOwners {
  private readonly context: MovementContext
  private readonly inferred = new Map<number, number>()

  constructor(context: MovementContext) {
    this.context = context
  }

  /** Wallet number that owns the account of a token balance; 0 for accounts of nobody who is tracked. */
  of({ accountIndex, mint, owner }: TokenBalance): number {
    const { named, orders } = this.context
    const escrow = orders.escrows.get(accountIndex)
    if (escrow !== undefined) return escrow
    if (owner !== null) {
      const { addresses } = named
      for (let i = 0; i < addresses.length; i++) {
        if (addresses[i] === owner) return named.wallets[i]!
      }
      return 0
    }
    let wallet = this.inferred.get(accountIndex)
    if (wallet === undefined) {
      wallet = this.infer(accountIndex, mint)
      this.inferred.set(accountIndex, wallet)
    }
    return wallet
  }

  private infer(account: number, mint: Address): number {
    const { tx, named, wallets, steps } = this.context
    for (const { program, instruction } of steps) {
      if (program !== 'token') continue
      switch (instruction.kind) {
        case 'initialize_account': {
          if (instruction.account !== account) break
          const { owner } = instruction
          const wallet = typeof owner === 'number' ? named.atKey[owner] : wallets.numberOfKey(owner)
          if (wallet !== undefined && named.wallets.includes(wallet)) return wallet
          break
        }
        case 'transfer':
        case 'burn':
        case 'close':
        case 'approve': {
          const used = instruction.kind === 'transfer' ? instruction.source : instruction.account
          const { authority } = instruction
          if (used !== account || authority === null || named.atKey[authority] === 0) break
          return named.atKey[authority]!
        }
      }
    }
    const keyIndex = tx.accountKeys.findIndex(
      (key, i) => named.atKey[i] !== 0 && isAssociated(tx.accountKeys[account]!, key, mint),
    )
    return keyIndex === -1 ? 0 : named.atKey[keyIndex]!
  }
}

const TOKEN_PROGRAM = addressBytes(address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'))
const ASSOCIATED_TOKEN_PROGRAM = addressBytes(
  address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
)

/**
 * Whether an account is where a wallet's tokens of a mint lie unless it chose otherwise: sha256(wallet, token program, mint, bump, associated token program,
 * "ProgramDerivedAddress") with the highest bump that is no point of the curve. Equal bytes are proof enough, and of 65,536 accounts all but one have
 * one of the first 16 bumps. Source: solana-pubkey `Pubkey::create_program_address`.
 */
function isAssociated(account: Uint8Array, wallet: Uint8Array, mint: Address): boolean {
  const mintKey = decodeBase58(mint)
  if (mintKey === null) return false // nobody checked the text
  for (let bump = 255; bump > 239; bump--) {
    const hash = createHash('sha256')
    hash.update(wallet).update(TOKEN_PROGRAM).update(mintKey).update(Uint8Array.of(bump))
    hash.update(ASSOCIATED_TOKEN_PROGRAM).update('ProgramDerivedAddress')
    if (hash.digest().equals(account)) return true
  }
  return false
}
