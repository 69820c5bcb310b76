import { createHash } from 'node:crypto'
import { type Address, address, addressBytes } from '../domain/address.ts'
import { decodeBase58 } from '../domain/base58.ts'
import type { TokenBalance } from '../domain/transaction.ts'
import type { MovementContext } from './movement-context.ts'

/**
 * Resolves the owner of the account of a token balance. An escrow belongs to the owner of its order
 * (rule B2a).
 *
 * Token balances of blocks before the end of 2021 name no owner. An account then belongs to a named
 * wallet if it was initialised for that wallet, if that wallet signed a transfer, burn, close or
 * approval of it, or if it is the wallet's associated token account.
 */
export class TokenOwners {
  private readonly context: MovementContext
  private readonly inferred = new Map<number, number>()

  constructor(context: MovementContext) {
    this.context = context
  }

  /** Number of the tracked wallet that owns the account of a token balance; 0 if none does. */
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
    const { tx, named, wallets, instructions } = this.context
    for (const { program, instruction } of instructions) {
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
 * Whether `account` is the associated token account of a wallet and mint.
 *
 * The address is sha256(wallet, token program, mint, bump, associated token program,
 * "ProgramDerivedAddress") with the highest bump that gives a point off the curve. Equal bytes are
 * proof enough, so the curve is not checked. Trying 16 bumps misses one account in 65,536.
 *
 * Source: solana-pubkey `Pubkey::create_program_address`.
 */
function isAssociated(account: Uint8Array, wallet: Uint8Array, mint: Address): boolean {
  const mintKey = decodeBase58(mint)
  if (mintKey === null) return false // `mint` comes from the node unchecked
  for (let bump = 255; bump > 239; bump--) {
    const hash = createHash('sha256')
    hash.update(wallet).update(TOKEN_PROGRAM).update(mintKey).update(Uint8Array.of(bump))
    hash.update(ASSOCIATED_TOKEN_PROGRAM).update('ProgramDerivedAddress')
    if (hash.digest().equals(account)) return true
  }
  return false
}
