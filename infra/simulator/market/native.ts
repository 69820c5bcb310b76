import { createHash } from 'node:crypto'
import { byteWriter } from './byte-writer.ts'
import { associatedTokenAccount, type Key, keyOfBytes } from './key.ts'
import {
  ASSOCIATED_TOKEN,
  RENT_SYSVAR,
  SYSTEM,
  TOKEN,
  TOKEN_2022_ACCOUNT_RENT,
  TOKEN_ACCOUNT_RENT,
  WSOL_MINT,
} from './programs.ts'
import {
  type Mint,
  readonly,
  signer,
  type TransactionBuilder,
  writable,
  writableSigner,
} from './transaction-builder.ts'

/** Wrapped SOL as a token of 9 decimals. */
export const WSOL_TOKEN: Mint = { key: WSOL_MINT, decimals: 9, program: TOKEN }

/** System `Transfer` (2): u32 instruction, u64 lamports. */
export function transferSol(tx: TransactionBuilder, from: Key, to: Key, lamports: bigint): void {
  const data = byteWriter(12).u32(2).u64(lamports).done()
  tx.call(SYSTEM, [writableSigner(from), writable(to)], data, () =>
    tx.moveLamports(from, to, lamports),
  )
}

/**
 * System `CreateAccount` (0): u32, u64 lamports, u64 space, 32 owner. With `signs` false, the new
 * account belongs to the calling program, which signs by its seeds.
 */
export function createAccount(
  tx: TransactionBuilder,
  from: Key,
  account: Key,
  lamports: bigint,
  space: number,
  owner: Key,
  signs = true,
): void {
  const data = byteWriter(52).u32(0).u64(lamports, space).key(owner).done()
  const created = signs ? writableSigner(account) : writable(account)
  tx.call(SYSTEM, [writableSigner(from), created], data, () =>
    tx.moveLamports(from, account, lamports),
  )
}

/** Lamports that a token account of this mint must hold. */
export function tokenAccountRent(mint: Mint): bigint {
  return mint.program === TOKEN ? TOKEN_ACCOUNT_RENT : TOKEN_2022_ACCOUNT_RENT
}

/** SPL Token `Transfer` (3): u8, u64 amount; accounts source, destination, authority. */
export const transferToken = tokenTransfer(false)

/**
 * SPL Token `TransferChecked` (12): u8, u64 amount, u8 decimals; accounts source, mint,
 * destination, authority.
 */
export const transferTokenChecked = tokenTransfer(true)

function tokenTransfer(isChecked: boolean) {
  return (tx: TransactionBuilder, from: Key, to: Key, authority: Key, amount: bigint): void => {
    const { mint } = tx.token(from)!
    const data = byteWriter(10)
      .u8(isChecked ? 12 : 3)
      .u64(amount)
    if (isChecked) data.u8(mint.decimals)
    const ofMint = isChecked ? [readonly(mint.key)] : []
    const accounts = [writable(from), ...ofMint, writable(to), signer(authority)]
    const body = () => {
      tx.log(`Instruction: ${isChecked ? 'TransferChecked' : 'Transfer'}`)
      moveToken(tx, from, to, amount)
    }
    tx.call(mint.program, accounts, data.done(), body, isChecked ? 6_200 : 4_645)
  }
}

function moveToken(tx: TransactionBuilder, from: Key, to: Key, amount: bigint): void {
  const source = tx.token(from)!
  const target = tx.token(to)!
  tx.setToken(from, { ...source, amount: source.amount - amount })
  tx.setToken(to, { ...target, amount: target.amount + amount })
  if (source.mint.key === WSOL_MINT) tx.moveLamports(from, to, amount)
}

/**
 * Associated Token `CreateIdempotent` (1): creates the account if it does not exist. Returns it.
 */
export function createAssociatedAccount(
  tx: TransactionBuilder,
  payer: Key,
  owner: Key,
  mint: Mint,
): Key {
  const account = associatedTokenAccount(owner, mint.key, mint.program)
  tx.call(
    ASSOCIATED_TOKEN,
    [
      writableSigner(payer),
      writable(account),
      ...[owner, mint.key, SYSTEM, mint.program].map(readonly),
    ],
    Uint8Array.of(1),
    () => {
      const space = mint.program === TOKEN ? 165 : 170
      tx.log('CreateIdempotent')
      if (tx.token(account) !== null) return
      tx.call(
        mint.program,
        [readonly(mint.key)],
        Uint8Array.of(21, 7, 0),
        () => {
          tx.log('Instruction: GetAccountDataSize')
          tx.logReturn(mint.program, byteWriter(8).u64(space).done())
        },
        1_569,
      )
      createAccount(tx, payer, account, tokenAccountRent(mint), space, mint.program)
      tx.log('Initialize the associated token account')
      tx.call(
        mint.program,
        [writable(account)],
        Uint8Array.of(22),
        () => tx.log('Instruction: InitializeImmutableOwner'),
        1_405,
      )
      initializeAccount3(tx, account, owner, mint)
    },
    7_000,
  )
  return account
}

/** SPL Token `InitializeAccount3` (18): u8, 32 owner. */
export function initializeAccount3(
  tx: TransactionBuilder,
  account: Key,
  owner: Key,
  mint: Mint,
): void {
  const data = byteWriter(33).u8(18).key(owner).done()
  tx.call(
    mint.program,
    [writable(account), readonly(mint.key)],
    data,
    () => {
      tx.log('Instruction: InitializeAccount3')
      const amount = mint.key === WSOL_MINT ? tx.lamports(account) - TOKEN_ACCOUNT_RENT : 0n
      tx.setToken(account, { mint, owner, amount })
    },
    4_188,
  )
}

/**
 * Opens a temporary WSOL account that wraps `lamports`: System `CreateAccountWithSeed` (3: u32, 32
 * base, u64 length and seed, u64 lamports, u64 space, 32 owner), then `InitializeAccount` (1).
 * Returns the account.
 */
export function openSeededWsol(
  tx: TransactionBuilder,
  owner: Key,
  seed: string,
  lamports: bigint,
): Key {
  const account = keyOfBytes(
    createHash('sha256').update(owner.bytes).update(seed, 'utf8').update(TOKEN.bytes).digest(),
  )
  const total = TOKEN_ACCOUNT_RENT + lamports
  const data = byteWriter(160)
    .u32(3)
    .key(owner)
    .u64(seed.length)
    .raw(Buffer.from(seed, 'utf8'))
    .u64(total, 165)
    .key(TOKEN)
    .done()
  tx.call(SYSTEM, [writableSigner(owner), writable(account)], data, () =>
    tx.moveLamports(owner, account, total),
  )
  tx.call(
    TOKEN,
    [writable(account), readonly(WSOL_MINT), readonly(owner), readonly(RENT_SYSVAR)],
    Uint8Array.of(1),
    () => {
      tx.log('Instruction: InitializeAccount')
      tx.setToken(account, { mint: WSOL_TOKEN, owner, amount: lamports })
    },
    3_443,
  )
  return account
}

/**
 * SPL Token `SyncNative` (17): sets the wrapped amount to what the account holds beyond its rent.
 */
export function syncNative(tx: TransactionBuilder, account: Key): void {
  tx.call(
    TOKEN,
    [writable(account)],
    Uint8Array.of(17),
    () => {
      tx.log('Instruction: SyncNative')
      const token = tx.token(account)!
      tx.setToken(account, { ...token, amount: tx.lamports(account) - TOKEN_ACCOUNT_RENT })
    },
    3_045,
  )
}

/** SPL Token `CloseAccount` (9): all lamports, wrapped ones too, go to `target`. */
export function closeAccount(tx: TransactionBuilder, account: Key, target: Key, owner: Key): void {
  const { mint } = tx.token(account)!
  tx.call(
    mint.program,
    [writable(account), writable(target), signer(owner)],
    Uint8Array.of(9),
    () => {
      tx.log('Instruction: CloseAccount')
      tx.moveLamports(account, target, tx.lamports(account))
      tx.setToken(account, null)
    },
    2_915,
  )
}

/** The account that keeps a wallet's wrapped SOL between transactions. */
export function wsolAccount(owner: Key): Key {
  return associatedTokenAccount(owner, WSOL_MINT, TOKEN)
}
