import { type Address, addressFromBytes } from '../../domain/address.ts'

/** The decoded token account of a pool. */
export interface Vault {
  readonly mint: Address
  /** Raw units. */
  readonly amount: bigint
}

/** SPL Token and Token-2022. */
const TOKEN_PROGRAMS: ReadonlySet<string> = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
])

// Account, 165 bytes (solana-program/token, program/src/state.rs). Accounts with extensions of
// Token-2022 are longer and have at 165 u8 account type (2: account):
//    0 Pubkey mint   32 Pubkey owner   64 u64 amount   72 COption<Pubkey> delegate   108 u8 state
//      ...
const SIZE = 165

/**
 * Decodes a token account; null for another account, or one that is not initialised. Never throws
 * on bytes.
 */
export function readVault(owner: string, data: Buffer): Vault | null {
  if (!TOKEN_PROGRAMS.has(owner) || data.length < SIZE) return null
  if (data.length > SIZE && data[SIZE] !== 2) return null
  const state = data[108]
  if (state !== 1 && state !== 2) return null
  return { mint: addressFromBytes(data.subarray(0, 32)), amount: data.readBigUInt64LE(64) }
}
