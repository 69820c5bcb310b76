import { readU64 } from './bytes.ts'

/**
 * Effect of an instruction of SPL Token or Token-2022 on accounts and amounts. Accounts are indexes
 * in `accountKeys`; amounts are raw units.
 */
export type TokenInstruction =
  | {
      readonly kind: 'transfer'
      readonly source: number
      readonly destination: number
      readonly authority: number
      readonly amount: bigint
      /** Index of the mint, if the instruction names it. */
      readonly mint: number | null
      readonly decimals: number | null
      /** The fee that the destination withholds, if the instruction states it. */
      readonly fee: bigint | null
    }
  | {
      readonly kind: 'mint'
      readonly mint: number
      readonly account: number
      readonly amount: bigint
      readonly decimals: number | null
    }
  | {
      readonly kind: 'burn'
      readonly mint: number
      readonly account: number
      readonly authority: number | null
      readonly amount: bigint
      readonly decimals: number | null
    }
  | {
      readonly kind: 'close'
      readonly account: number
      readonly destination: number
      readonly authority: number | null
    }
  | {
      readonly kind: 'initialize_account'
      readonly account: number
      readonly mint: number
      readonly owner: number | Uint8Array
    }
  | { readonly kind: 'initialize_mint'; readonly mint: number; readonly decimals: number }
  | { readonly kind: 'approve'; readonly account: number; readonly authority: number }
  | { readonly kind: 'set_owner'; readonly account: number; readonly owner: Uint8Array }
  | {
      readonly kind: 'unwrap'
      readonly source: number
      readonly destination: number
      readonly amount: bigint | null
    }

/**
 * Reads one instruction of the token programs and passes its effect to `emit`. Calls `emit` never
 * for an instruction that moves nothing (freezes, queries) or cannot be read, several times for a
 * `Batch`.
 *
 * Source: spl-token-interface 2.0 `instruction.rs` (tags 0-24, 38 WithdrawExcessLamports,
 * 45 UnwrapLamports, 255 Batch) and spl-token-2022-interface 2.0 `instruction.rs`,
 * `extension/transfer_fee/instruction.rs` (tag 26, sub-tag 1).
 */
export function readTokenInstruction(
  accounts: Uint8Array,
  data: Uint8Array,
  emit: (instruction: TokenInstruction) => void,
): void {
  if (data[0] === 255) {
    readBatch(accounts, data, emit)
    return
  }
  const instruction =
    readAmountInstruction(accounts, data) ?? readAccountInstruction(accounts, data)
  if (instruction !== null) emit(instruction)
}

/** Reads transfers, mints, burns and unwraps; null for anything else. */
function readAmountInstruction(accounts: Uint8Array, data: Uint8Array): TokenInstruction | null {
  const a = accounts[0]
  const b = accounts[1]
  const c = accounts[2]
  const d = accounts[3]
  if (a === undefined || b === undefined) return null
  switch (data[0]) {
    case 3: // Transfer: source, destination, authority; amount u64 @1
      if (c === undefined || data.length < 9) return null
      return transfer(a, b, c, readU64(data, 1), null, null, null)
    case 12: // TransferChecked: source, mint, destination, authority; amount u64 @1, decimals u8 @9
      if (c === undefined || d === undefined || data.length < 10) return null
      return transfer(a, c, d, readU64(data, 1), b, data[9]!, null)
    case 26: // TransferFeeExtension; 1 TransferCheckedWithFee: amount @2, decimals @10, fee u64 @11
      if (data[1] !== 1 || c === undefined || d === undefined || data.length < 19) return null
      return transfer(a, c, d, readU64(data, 2), b, data[10]!, readU64(data, 11))
    case 7: // MintTo: mint, account, authority; amount u64 @1
    case 14: // MintToChecked: + decimals u8 @9
      if (data.length < 9) return null
      return {
        kind: 'mint',
        mint: a,
        account: b,
        amount: readU64(data, 1),
        decimals: checked(data, 14),
      }
    case 8: // Burn: account, mint, authority; amount u64 @1
    case 15: // BurnChecked: + decimals u8 @9
      if (data.length < 9) return null
      return {
        kind: 'burn',
        authority: c ?? null,
        mint: b,
        account: a,
        amount: readU64(data, 1),
        decimals: checked(data, 15),
      }
    case 45: // UnwrapLamports: source, destination, authority; option u8 @1, amount u64 @2
      return {
        kind: 'unwrap',
        source: a,
        destination: b,
        amount: data[1] === 1 && data.length >= 10 ? readU64(data, 2) : null,
      }
    default:
      return null
  }
}

/** Reads instructions that open, close or assign accounts and mints; null for anything else. */
function readAccountInstruction(accounts: Uint8Array, data: Uint8Array): TokenInstruction | null {
  const a = accounts[0]
  const b = accounts[1]
  const c = accounts[2]
  if (a === undefined) return null
  switch (data[0]) {
    case 0: // InitializeMint: decimals u8 @1
    case 20: // InitializeMint2
      if (data.length < 2) return null
      return { kind: 'initialize_mint', mint: a, decimals: data[1]! }
    case 1: // InitializeAccount: account, mint, owner
      if (b === undefined || c === undefined) return null
      return { kind: 'initialize_account', account: a, mint: b, owner: c }
    case 16: // InitializeAccount2: account, mint; owner @1
    case 18: // InitializeAccount3
      if (b === undefined || data.length < 33) return null
      return { kind: 'initialize_account', account: a, mint: b, owner: data.subarray(1, 33) }
    case 9: // CloseAccount: account, destination, authority
      if (b === undefined) return null
      return { kind: 'close', account: a, destination: b, authority: c ?? null }
    case 4: // Approve: source, delegate, owner
      return c === undefined ? null : { kind: 'approve', account: a, authority: c }
    case 13: {
      // ApproveChecked: source, mint, delegate, owner
      const owner = accounts[3]
      return owner === undefined ? null : { kind: 'approve', account: a, authority: owner }
    }
    case 6: // SetAuthority: type u8 @1 (2 = AccountOwner), option u8 @2, key @3
      if (data[1] !== 2 || data[2] !== 1 || data.length < 35) return null
      return { kind: 'set_owner', account: a, owner: data.subarray(3, 35) }
    default:
      return null
  }
}

function transfer(
  source: number,
  destination: number,
  authority: number,
  amount: bigint,
  mint: number | null,
  decimals: number | null,
  fee: bigint | null,
): TokenInstruction {
  return { kind: 'transfer', source, destination, authority, amount, mint, decimals, fee }
}

function checked(data: Uint8Array, tag: number): number | null {
  return data[0] === tag && data.length >= 10 ? data[9]! : null
}

/**
 * Batch layout: tag 255, then for each instruction: number of accounts u8, length of data u8, data.
 * The accounts of the instructions follow one another.
 */
function readBatch(
  accounts: Uint8Array,
  data: Uint8Array,
  emit: (instruction: TokenInstruction) => void,
): void {
  let account = 0
  for (let at = 1; at + 2 <= data.length; ) {
    const accountsEnd = account + data[at]!
    const dataEnd = at + 2 + data[at + 1]!
    if (accountsEnd > accounts.length || dataEnd > data.length) return
    // The program refuses a batch within a batch.
    if (data[at + 2] !== 255) {
      readTokenInstruction(
        accounts.subarray(account, accountsEnd),
        data.subarray(at + 2, dataEnd),
        emit,
      )
    }
    account = accountsEnd
    at = dataEnd
  }
}
