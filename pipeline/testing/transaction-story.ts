import { createHash } from 'node:crypto'
import { type Address, addressBytes, addressFromBytes, parseAddress } from '../domain/address.ts'
import { WSOL } from '../domain/quote.ts'
import type { Instruction, TokenBalance, Transaction } from '../domain/transaction.ts'
import { createWallets, type Wallets } from '../domain/wallets.ts'
import { encodeTransactionInfo } from '../ingest/wire/encode-transaction-info.ts'

/** Rent of a token account, in lamports. */
export const RENT = 2_039_280n
const SYSTEM = '11111111111111111111111111111111'
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'

/** Returns the address of a name: the name itself if it is an address, else one derived from it. */
export function addressOf(name: string): Address {
  return parseAddress(name) ?? addressFromBytes(createHash('sha256').update(name).digest())
}

/** Returns the wallets of the given names, numbered from 1. */
export function trackedNames(...names: readonly string[]): Wallets {
  return createWallets(names.map(addressOf))
}

interface TokenAccount {
  readonly mint: string
  readonly owner: string
  readonly amount: bigint
}

/**
 * A transaction told as a story. Each method adds an instruction (nested within `call`) and applies
 * its effect, so that balances before and after are right. Accounts are names, see `addressOf`; the
 * name of a mint is that of its account. Decimals are 6 (WSOL 9) unless `mint` says otherwise.
 */
export class TransactionStory {
  private readonly keys: string[]
  private readonly lamports = new Map<string, bigint>()
  private readonly tokens = new Map<string, TokenAccount>()
  private readonly lamportsBefore = new Map<string, bigint>()
  private readonly tokensBefore = new Map<string, TokenAccount>()
  private readonly decimals = new Map<string, number>([[WSOL, 9]])
  private readonly withTransferFee = new Map<string, bigint>()
  private readonly instructions: {
    program: string
    accounts: string[]
    data: Uint8Array
    height: number
  }[] = []
  private readonly signerCount: number
  private depth = 1
  private fee = 5000n

  /** The signers, the fee payer first. Each starts with 100 SOL. */
  constructor(...signers: readonly string[]) {
    this.keys = [...signers]
    this.signerCount = signers.length
    for (const signer of signers) this.sol(signer, 100_000_000_000n)
  }

  /** Sets the lamports of an account before the transaction. */
  sol(name: string, lamports: bigint): this {
    this.key(name)
    this.lamports.set(name, lamports)
    this.lamportsBefore.set(name, lamports)
    return this
  }

  /** Adds a token account that exists before the transaction. */
  token(name: string, owner: string, mint: string, amount: bigint): this {
    this.key(name)
    const account = { mint, owner, amount }
    this.tokens.set(name, account)
    this.tokensBefore.set(name, account)
    return this.sol(name, RENT + (mint === WSOL ? amount : 0n))
  }

  /** Sets the decimals and the Token-2022 transfer fee of a mint. */
  mint(name: string, options: { decimals?: number; transferFeeBps?: bigint }): this {
    if (options.decimals !== undefined) this.decimals.set(name, options.decimals)
    if (options.transferFeeBps !== undefined) this.withTransferFee.set(name, options.transferFeeBps)
    return this
  }

  /** Calls a program; instructions that `inner` adds are its inner instructions. */
  call(
    program: string,
    data: Uint8Array,
    accounts: readonly string[],
    inner: () => void = () => {},
  ): this {
    this.add(program, accounts, data)
    this.depth++
    inner()
    this.depth--
    return this
  }

  /** System Transfer. */
  transferSol(from: string, to: string, lamports: bigint): this {
    this.move(from, to, lamports)
    return this.add(SYSTEM, [from, to], concatBytes(u32(2), u64(lamports)))
  }

  /** System CreateAccount, for the Token program. */
  createAccount(payer: string, account: string, lamports: bigint): this {
    this.move(payer, account, lamports)
    const data = concatBytes(u32(0), u64(lamports), u64(165n), addressBytes(addressOf(TOKEN)))
    return this.add(SYSTEM, [payer, account], data)
  }

  /** System Allocate. */
  allocate(account: string): this {
    return this.add(SYSTEM, [account], concatBytes(u32(8), u64(10n)))
  }

  /** InitializeAccount3. */
  initToken(account: string, owner: string, mint: string): this {
    const amount = mint === WSOL ? this.at(account) - RENT : 0n
    this.tokens.set(account, { mint, owner, amount })
    return this.add(
      this.program(mint),
      [account, mint],
      concatBytes([18], addressBytes(addressOf(owner))),
    )
  }

  /** Creates and initialises a token account; the payer pays the rent. */
  openToken(payer: string, account: string, owner: string, mint: string, extra = 0n): this {
    return this.createAccount(payer, account, RENT + extra).initToken(account, owner, mint)
  }

  /** SyncNative. */
  syncNative(account: string): this {
    const token = this.tokenAt(account)
    this.tokens.set(account, { ...token, amount: this.at(account) - RENT })
    return this.add(TOKEN, [account], Uint8Array.of(17))
  }

  /** TransferChecked. */
  transfer(source: string, destination: string, amount: bigint): this {
    const from = this.tokenAt(source)
    const feeBps = this.withTransferFee.get(from.mint) ?? 0n
    const received = amount - (amount * feeBps + 9_999n) / 10_000n
    this.tokens.set(source, { ...from, amount: from.amount - amount })
    const to = this.tokenAt(destination)
    this.tokens.set(destination, { ...to, amount: to.amount + (feeBps === 0n ? amount : received) })
    if (from.mint === WSOL) this.move(source, destination, amount)
    const data = concatBytes([12], u64(amount), [this.decimalsOf(from.mint)])
    return this.add(this.program(from.mint), [source, from.mint, destination, from.owner], data)
  }

  /** MintTo. */
  mintTo(mint: string, account: string, amount: bigint): this {
    const token = this.tokenAt(account)
    this.tokens.set(account, { ...token, amount: token.amount + amount })
    return this.add(
      this.program(mint),
      [mint, account, 'mint authority'],
      concatBytes([7], u64(amount)),
    )
  }

  /** Burn. */
  burn(account: string, amount: bigint): this {
    const token = this.tokenAt(account)
    this.tokens.set(account, { ...token, amount: token.amount - amount })
    return this.add(
      this.program(token.mint),
      [account, token.mint, token.owner],
      concatBytes([8], u64(amount)),
    )
  }

  /** CloseAccount. */
  close(account: string, destination: string): this {
    const { owner, mint } = this.tokenAt(account)
    this.move(account, destination, this.at(account))
    this.tokens.delete(account)
    return this.add(this.program(mint), [account, destination, owner], Uint8Array.of(9))
  }

  /** SetAuthority of type AccountOwner. */
  giveAway(account: string, owner: string): this {
    const token = this.tokenAt(account)
    this.tokens.set(account, { ...token, owner })
    const data = concatBytes([6, 2, 1], addressBytes(addressOf(owner)))
    return this.add(this.program(token.mint), [account, token.owner], data)
  }

  /** Moves lamports without an instruction, as a program can. */
  credit(from: string, to: string, lamports: bigint): this {
    this.move(from, to, lamports)
    return this
  }

  /** Sets the network fee of the first signer; the default is 5000 lamports. */
  networkFee(lamports: bigint): this {
    this.fee = lamports
    return this
  }

  /** Returns the transaction: slot 1, index 0. */
  build(options: { failed?: boolean; innerKept?: boolean } = {}): Transaction {
    const failed = options.failed ?? false
    const [lamports, tokens] = failed
      ? [new Map(this.lamportsBefore), this.tokensBefore]
      : [new Map(this.lamports), this.tokens]
    const payer = this.keys[0]!
    lamports.set(payer, (lamports.get(payer) ?? 0n) - this.fee)
    const pre = this.balances(this.tokensBefore)
    const post = this.balances(tokens)
    const transaction: Omit<Transaction, 'encoded'> = {
      kind: 'transaction',
      slot: 1,
      index: 0,
      signature: new Uint8Array(64).fill(1),
      failed,
      accountKeys: this.keys.map((name) => addressBytes(addressOf(name))),
      signerCount: this.signerCount,
      fee: this.fee,
      lamportsBefore: (account) => this.lamportsBefore.get(this.keys[account]!) ?? 0n,
      lamportsAfter: (account) => lamports.get(this.keys[account]!) ?? 0n,
      tokenOwners: [...pre, ...post].flatMap(({ owner }) => owner ?? []),
      preTokenBalances: pre,
      postTokenBalances: post,
      instructions: this.instructions.map(
        ({ program, accounts, data, height }): Instruction => ({
          programIndex: this.key(program),
          accounts: Uint8Array.from(accounts, (name) => this.key(name)),
          data,
          stackHeight: height,
        }),
      ),
      innerKept: options.innerKept ?? true,
      logs: [],
    }
    return { ...transaction, encoded: () => encodeTransactionInfo(transaction) }
  }

  private balances(tokens: ReadonlyMap<string, TokenAccount>): TokenBalance[] {
    return [...tokens].map(([name, { mint, owner, amount }]) => ({
      accountIndex: this.key(name),
      mint: addressOf(mint),
      owner: addressOf(owner),
      amount,
      decimals: this.decimalsOf(mint),
    }))
  }

  private add(program: string, accounts: readonly string[], data: Uint8Array): this {
    for (const name of [program, ...accounts]) this.key(name)
    this.instructions.push({ program, accounts: [...accounts], data, height: this.depth })
    return this
  }

  private key(name: string): number {
    const at = this.keys.indexOf(name)
    return at === -1 ? this.keys.push(name) - 1 : at
  }

  private at(name: string): bigint {
    return this.lamports.get(name) ?? 0n
  }

  private move(from: string, to: string, lamports: bigint): void {
    this.lamports.set(from, this.at(from) - lamports)
    this.lamports.set(to, this.at(to) + lamports)
  }

  private tokenAt(name: string): TokenAccount {
    const token = this.tokens.get(name)
    if (token === undefined) throw new Error(`no token account ${name}`)
    return token
  }

  private decimalsOf(mint: string): number {
    return this.decimals.get(mint) ?? 6
  }

  private program(mint: string): string {
    return this.withTransferFee.has(mint) ? TOKEN_2022 : TOKEN
  }
}

function u32(value: number): Uint8Array {
  return Uint8Array.of(value, value >> 8, value >> 16, value >> 24)
}

function u64(value: bigint): Uint8Array {
  const data = Buffer.alloc(8)
  data.writeBigUInt64LE(value)
  return data
}

/** Concatenates parts of instruction data. */
export function concatBytes(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts.map((part) => Uint8Array.from(part))))
}
