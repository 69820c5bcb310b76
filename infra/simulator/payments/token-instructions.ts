import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { ASSOCIATED_TOKEN, TOKEN } from '../market/programs.ts'

/**
 * Instructions of System, Token and Associated Token as wallets build them. Amounts in raw units.
 * Source: spl-token-interface `instruction.rs`.
 */

const TOKEN_PROGRAM = new PublicKey(TOKEN.bytes)
const ASSOCIATED_TOKEN_PROGRAM = new PublicKey(ASSOCIATED_TOKEN.bytes)

/** The associated token account of an owner, and the instruction that creates it. */
export function associatedAccount(
  owner: PublicKey,
  mint: PublicKey,
  program = TOKEN_PROGRAM,
): PublicKey {
  const seeds = [owner.toBytes(), program.toBytes(), mint.toBytes()]
  return PublicKey.findProgramAddressSync(seeds, ASSOCIATED_TOKEN_PROGRAM)[0]
}

/** Associated Token `CreateIdempotent` (1). */
export function createAssociated(
  payer: PublicKey,
  owner: PublicKey,
  mint: PublicKey,
  program = TOKEN_PROGRAM,
): { readonly account: PublicKey; readonly instruction: TransactionInstruction } {
  const account = associatedAccount(owner, mint, program)
  const keys = [
    { pubkey: payer, isSigner: true, isWritable: true },
    { pubkey: account, isSigner: false, isWritable: true },
    ...[owner, mint, SystemProgram.programId, program].map(reading),
  ]
  const data = Buffer.of(1)
  const programId = ASSOCIATED_TOKEN_PROGRAM
  return { account, instruction: new TransactionInstruction({ programId, keys, data }) }
}

/** `MintTo` (7), from a mint to an account of it. */
export const mintTo = amountInstruction(7)

/** `Transfer` (3), from one account to another. */
export const transfer = amountInstruction(3)

/** An instruction that the authority signs and that adds an amount to an account. */
function amountInstruction(code: number) {
  return (
    from: PublicKey,
    to: PublicKey,
    authority: PublicKey,
    amount: bigint,
    program = TOKEN_PROGRAM,
  ): TransactionInstruction => {
    const keys = [writing(from), writing(to), signing(authority)]
    return tokenInstruction(program, keys, [Buffer.of(code), u64(amount)])
  }
}

/** `TransferChecked` (12). */
export function transferChecked(
  source: PublicKey,
  mint: PublicKey,
  destination: PublicKey,
  authority: PublicKey,
  amount: bigint,
  decimals: number,
  program = TOKEN_PROGRAM,
): TransactionInstruction {
  const keys = [writing(source), reading(mint), writing(destination), signing(authority)]
  return tokenInstruction(program, keys, [Buffer.of(12), u64(amount), Buffer.of(decimals)])
}

/** Token-2022 `TransferCheckedWithFee` (26, 1). */
export function transferCheckedWithFee(
  source: PublicKey,
  mint: PublicKey,
  destination: PublicKey,
  authority: PublicKey,
  amount: bigint,
  decimals: number,
  fee: bigint,
  program: PublicKey,
): TransactionInstruction {
  const keys = [writing(source), reading(mint), writing(destination), signing(authority)]
  const data = [Buffer.of(26, 1), u64(amount), Buffer.of(decimals), u64(fee)]
  return tokenInstruction(program, keys, data)
}

/** `Approve` (4): lets `delegate` send up to `amount`. */
export function approve(
  account: PublicKey,
  delegate: PublicKey,
  owner: PublicKey,
  amount: bigint,
): TransactionInstruction {
  const keys = [writing(account), reading(delegate), signing(owner)]
  return tokenInstruction(TOKEN_PROGRAM, keys, [Buffer.of(4), u64(amount)])
}

/** `InitializeAccount3` (18): an account that System created. */
export function initializeAccount(
  account: PublicKey,
  mint: PublicKey,
  owner: PublicKey,
  program = TOKEN_PROGRAM,
): TransactionInstruction {
  const keys = [writing(account), reading(mint)]
  return tokenInstruction(program, keys, [Buffer.of(18), owner.toBytes()])
}

/** `InitializeMint2` (20), without a freeze authority. */
export function initializeMint(
  mint: PublicKey,
  authority: PublicKey,
  decimals: number,
  program = TOKEN_PROGRAM,
): TransactionInstruction {
  const data = [Buffer.of(20, decimals), authority.toBytes(), Buffer.of(0)]
  return tokenInstruction(program, [writing(mint)], data)
}

/** `SetAuthority` (6) of kind AccountOwner (2). */
export function setOwner(
  account: PublicKey,
  owner: PublicKey,
  newOwner: PublicKey,
): TransactionInstruction {
  const keys = [writing(account), signing(owner)]
  return tokenInstruction(TOKEN_PROGRAM, keys, [Buffer.of(6, 2, 1), newOwner.toBytes()])
}

function tokenInstruction(
  programId: PublicKey,
  keys: ReturnType<typeof reading>[],
  data: readonly Uint8Array[],
): TransactionInstruction {
  return new TransactionInstruction({ programId, keys, data: Buffer.concat(data) })
}

function reading(pubkey: PublicKey) {
  return { pubkey, isSigner: false, isWritable: false }
}

function writing(pubkey: PublicKey) {
  return { pubkey, isSigner: false, isWritable: true }
}

function signing(pubkey: PublicKey) {
  return { pubkey, isSigner: true, isWritable: false }
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
