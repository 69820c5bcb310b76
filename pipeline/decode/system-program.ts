import { readU32, readU64 } from './bytes.ts'

/**
 * Effect of an instruction of the System program on lamports and accounts. Accounts are indexes in
 * `accountKeys`.
 */
export type SystemInstruction =
  | {
      readonly kind: 'transfer'
      readonly source: number
      readonly destination: number
      readonly lamports: bigint
    }
  | {
      readonly kind: 'create'
      readonly source: number
      readonly account: number
      readonly lamports: bigint
    }
  /** Allocate and Assign, with or without seed: the account is created here. */
  | { readonly kind: 'allocate'; readonly account: number }
  | {
      readonly kind: 'withdraw_nonce'
      readonly source: number
      readonly destination: number
      readonly lamports: bigint
    }

/**
 * Reads one instruction of the System program; null for one that moves nothing or cannot be read.
 *
 * Source: solana-system-interface 2.0 `instruction.rs`, bincode: tag u32, then the fields. A seed
 * is a u64 length and its bytes.
 */
export function readSystemInstruction(
  accounts: Uint8Array,
  data: Uint8Array,
): SystemInstruction | null {
  const [a, b, c] = [accounts[0], accounts[1], accounts[2]]
  if (a === undefined || data.length < 4) return null
  switch (readU32(data, 0)) {
    case 0: // CreateAccount: lamports u64 @4
    case 13: // CreateAccountAllowPrefund: the same fields; the account first
      if (b === undefined || data.length < 12) return null
      return data[0] === 0
        ? { kind: 'create', source: a, account: b, lamports: readU64(data, 4) }
        : { kind: 'create', source: b, account: a, lamports: readU64(data, 4) }
    case 2: // Transfer: lamports u64 @4
      if (b === undefined || data.length < 12) return null
      return { kind: 'transfer', source: a, destination: b, lamports: readU64(data, 4) }
    case 3: {
      // CreateAccountWithSeed: base @4, seed @36, lamports u64 after it
      const at = 44 + readU32(data, 36)
      if (b === undefined || data.length < at + 8) return null
      return { kind: 'create', source: a, account: b, lamports: readU64(data, at) }
    }
    case 5: // WithdrawNonceAccount: lamports u64 @4
      if (b === undefined || data.length < 12) return null
      return { kind: 'withdraw_nonce', source: a, destination: b, lamports: readU64(data, 4) }
    case 11: // TransferWithSeed: lamports u64 @4; accounts: source, base, destination
      if (c === undefined || data.length < 12) return null
      return { kind: 'transfer', source: a, destination: c, lamports: readU64(data, 4) }
    case 1: // Assign
    case 8: // Allocate
    case 9: // AllocateWithSeed
    case 10: // AssignWithSeed
      return { kind: 'allocate', account: a }
    default:
      return null
  }
}
