import {
  Keypair,
  PublicKey,
  Transaction as Signed,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import { FailedTransactionMetadata, LiteSVM } from 'litesvm'
import { type Address, addressFromBytes } from '../domain/address.ts'
import type { Instruction, TokenBalance, Transaction } from '../domain/transaction.ts'
import { encodeTransactionInfo } from '../ingest/wire/encode-transaction-info.ts'

const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
const DECIMALS = 6
/**
 * Size of a token account of 165 bytes, its type, and the extension TransferFeeAmount; then of a
 * mint with TransferFeeConfig.
 */
const ACCOUNT_BYTES = 178
const MINT_BYTES = 278
/** Size of a mint with the extension MetadataPointer. The metadata extends the account itself. */
const DESCRIBED_MINT_BYTES = 234

/**
 * The real Token-2022 program in an in-process chain, with one mint that withholds a transfer fee.
 * Effects on amounts are executed, not imitated.
 */
export class Token2022Chain {
  readonly payer = Keypair.generate()
  readonly mint = Keypair.generate()
  private readonly svm = new LiteSVM()
  private readonly accounts: { readonly key: PublicKey; readonly owner: PublicKey }[] = []

  constructor(feeBps: number, maximumFee: bigint) {
    this.svm.airdrop(
      text(this.payer.publicKey),
      100_000_000_000n as Parameters<LiteSVM['airdrop']>[1],
    ) // a branded bigint
    const mint = this.mint.publicKey
    const authority = this.payer.publicKey.toBytes()
    // TransferFeeExtension, InitializeTransferFeeConfig: two optional authorities, basis points
    // u16, maximum u64.
    const config = Buffer.concat(
      [[26, 0, 1], authority, [1], authority, u16(feeBps), u64(maximumFee)].map((part) =>
        Uint8Array.from(part),
      ),
    )
    const initialize = Buffer.concat(
      [[20, DECIMALS], authority, [0]].map((part) => Uint8Array.from(part)),
    )
    this.send(
      [this.create(mint, MINT_BYTES), token([mint], config), token([mint], initialize)],
      this.mint,
    )
  }

  /** Opens a token account for an owner, with an amount. */
  open(owner: PublicKey, amount: bigint): PublicKey {
    const account = Keypair.generate()
    const mint = this.mint.publicKey
    const instructions = [
      this.create(account.publicKey, ACCOUNT_BYTES),
      token([account.publicKey, mint], Buffer.concat([Uint8Array.of(18), owner.toBytes()])),
    ]
    if (amount > 0n) {
      const data = Buffer.concat([Uint8Array.of(7), u64(amount)])
      instructions.push(
        token([mint, account.publicKey, this.payer.publicKey], data, this.payer.publicKey),
      )
    }
    this.send(instructions, account)
    this.accounts.push({ key: account.publicKey, owner })
    return account.publicKey
  }

  /**
   * Creates a mint of `supply` raw units with the metadata extension. Returns its address and its
   * account.
   */
  describedMint(supply: bigint, name: string, symbol: string) {
    const mint = Keypair.generate()
    const { publicKey } = mint
    const authority = this.payer.publicKey
    const size = DESCRIBED_MINT_BYTES
    // MetadataPointerExtension, Initialize: authority, and the address of the metadata, which is
    // the mint.
    const pointer = Buffer.concat([Uint8Array.of(39, 0), authority.toBytes(), publicKey.toBytes()])
    const initialize = Buffer.concat([Uint8Array.of(20, 8), authority.toBytes(), Uint8Array.of(0)])
    const texts = [name, symbol, 'https://mint.invalid'].map((value) => {
      const bytes = Buffer.from(value, 'utf8')
      return Buffer.concat([u32(bytes.length), bytes])
    })
    // Initialize of the token metadata interface: the start of
    // sha256("spl_token_metadata_interface:initialize_account"), then three strings.
    const describe = Buffer.concat([Buffer.from('d2e11ea258b84d8d', 'hex'), ...texts])
    const account = Keypair.generate()
    this.send(
      [
        this.create(publicKey, size),
        this.sol(authority, publicKey, 50_000_000),
        token([publicKey], pointer),
        token([publicKey], initialize),
        token([publicKey, authority, publicKey, authority], describe, authority),
        this.create(account.publicKey, 165),
        token(
          [account.publicKey, publicKey],
          Buffer.concat([Uint8Array.of(18), authority.toBytes()]),
        ),
        token(
          [publicKey, account.publicKey, authority],
          Buffer.concat([Uint8Array.of(7), u64(supply)]),
          authority,
        ),
      ],
      mint,
      account,
    )
    const found = this.svm.getAccount(text(publicKey))
    if (!found.exists) throw new Error('the mint was not made')
    const { programAddress: owner, data } = found
    return {
      mint: addressFromBytes(publicKey.toBytes()),
      account: { owner: String(owner), data: Uint8Array.from(data) },
    }
  }

  /** TransferChecked. */
  transfer(source: PublicKey, destination: PublicKey, owner: PublicKey, amount: bigint) {
    const data = Buffer.concat([Uint8Array.of(12), u64(amount), Uint8Array.of(DECIMALS)])
    return token([source, this.mint.publicKey, destination, owner], data, owner)
  }

  /** TransferCheckedWithFee. */
  transferWithFee(
    source: PublicKey,
    destination: PublicKey,
    owner: PublicKey,
    amount: bigint,
    fee: bigint,
  ) {
    const data = Buffer.concat([
      Uint8Array.of(26, 1),
      u64(amount),
      Uint8Array.of(DECIMALS),
      u64(fee),
    ])
    return token([source, this.mint.publicKey, destination, owner], data, owner)
  }

  /** System Transfer. */
  sol(from: PublicKey, to: PublicKey, lamports: number) {
    return SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports })
  }

  /** Raw amount on an account of the mint. */
  amountOf(account: PublicKey): bigint {
    const found = this.svm.getAccount(text(account))
    return found.exists ? Buffer.from(found.data).readBigUInt64LE(64) : 0n
  }

  /**
   * Executes instructions. Returns a transaction in which `program`, called with `data`, called all
   * of them, with balances before and after as the chain has them. `signers` sign in addition to
   * the payer.
   */
  execute(
    program: Address,
    data: Uint8Array,
    instructions: readonly TransactionInstruction[],
    ...signers: readonly Keypair[]
  ): Transaction {
    const keys = [this.payer.publicKey, ...signers.map(({ publicKey }) => publicKey)]
    const indexOf = (key: PublicKey) => {
      const at = keys.findIndex((other) => other.equals(key))
      return at === -1 ? keys.push(key) - 1 : at
    }
    const called = instructions.map(
      ({ programId, keys: metas, data: bytes }): Instruction => ({
        programIndex: indexOf(programId),
        accounts: Uint8Array.from(metas, ({ pubkey }) => indexOf(pubkey)),
        data: Uint8Array.from(bytes),
        stackHeight: 2,
      }),
    )
    const caller: Instruction = {
      programIndex: indexOf(new PublicKey(program)),
      accounts: new Uint8Array(),
      data,
      stackHeight: 1,
    }
    const before = this.balances(keys, indexOf)
    this.send(instructions, ...signers)
    const after = this.balances(keys, indexOf)
    const transaction: Omit<Transaction, 'encoded'> = {
      kind: 'transaction',
      slot: 1,
      index: 0,
      signature: new Uint8Array(64).fill(1),
      failed: false,
      accountKeys: keys.map((key) => key.toBytes()),
      signerCount: 1 + signers.length,
      fee: 5000n * BigInt(1 + signers.length),
      lamportsBefore: (account) => before.lamports[account]!,
      lamportsAfter: (account) => after.lamports[account]!,
      tokenOwners: [...before.tokens, ...after.tokens].flatMap(({ owner }) => owner ?? []),
      preTokenBalances: before.tokens,
      postTokenBalances: after.tokens,
      instructions: [caller, ...called],
      innerKept: true,
      logs: [],
    }
    return { ...transaction, encoded: () => encodeTransactionInfo(transaction) }
  }

  private balances(keys: readonly PublicKey[], indexOf: (key: PublicKey) => number) {
    const tokens = this.accounts.map(
      ({ key, owner }): TokenBalance => ({
        accountIndex: indexOf(key),
        mint: addressFromBytes(this.mint.publicKey.toBytes()),
        owner: addressFromBytes(owner.toBytes()),
        amount: this.amountOf(key),
        decimals: DECIMALS,
      }),
    )
    return { tokens, lamports: keys.map((key) => BigInt(this.svm.getBalance(text(key)) ?? 0n)) }
  }

  private create(account: PublicKey, space: number): TransactionInstruction {
    const lamports = Number(this.svm.minimumBalanceForRentExemption(BigInt(space)))
    return SystemProgram.createAccount({
      fromPubkey: this.payer.publicKey,
      newAccountPubkey: account,
      lamports,
      space,
      programId: TOKEN_2022,
    })
  }

  private send(
    instructions: readonly TransactionInstruction[],
    ...signers: readonly Keypair[]
  ): void {
    const signed = new Signed()
    signed.add(...instructions)
    signed.recentBlockhash = this.svm.latestBlockhash()
    signed.feePayer = this.payer.publicKey
    signed.sign(this.payer, ...signers)
    const result = this.svm.sendTransaction({
      messageBytes: signed.serializeMessage(),
      signatures: Object.fromEntries(
        signed.signatures.map(({ publicKey, signature }) => [publicKey.toBase58(), signature]),
      ),
      // The cast is safe: the two libraries brand the same two fields differently.
    } as unknown as Parameters<LiteSVM['sendTransaction']>[0])
    if (result instanceof FailedTransactionMetadata) throw new Error(result.toString())
    this.svm.expireBlockhash()
  }
}

function token(
  accounts: readonly PublicKey[],
  data: Uint8Array,
  signer?: PublicKey,
): TransactionInstruction {
  return new TransactionInstruction({
    programId: TOKEN_2022,
    keys: accounts.map((pubkey) => ({
      pubkey,
      isSigner: signer?.equals(pubkey) ?? false,
      isWritable: true,
    })),
    data: Buffer.from(data),
  })
}

/** Address text with the brand of Solana Kit. */
function text(key: PublicKey): Parameters<LiteSVM['getAccount']>[0] {
  return key.toBase58() as Parameters<LiteSVM['getAccount']>[0]
}

function u16(value: number): Uint8Array {
  return Uint8Array.of(value, value >> 8)
}

function u64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
