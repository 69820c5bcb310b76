import { type MintTable, NO_MINT, SOL } from './mint-table.ts'
import type { MovementContext } from './movement-context.ts'
import type { TokenOwners } from './token-owners.ts'
import type { TokenInstruction } from './token-program.ts'

/** Rent-exempt lamports of a token account of 165 bytes. A WSOL account has this size. */
const TOKEN_ACCOUNT_RENT = 2_039_280n

/**
 * State of each account while a transaction is replayed: mint and owner of token accounts, and
 * lamports as far as instructions show them. Accounts are given by their index in `accountKeys`.
 */
export class AccountStates {
  private readonly context: MovementContext
  private readonly mints: MintTable
  private readonly mintOf: Int16Array
  private readonly ownerOf: Uint32Array
  private readonly createdAt: Int16Array
  private readonly gained: bigint[] = []

  /**
   * Initialises the states to those before the first instruction. An account that is opened later
   * starts with the mint and owner it will first have.
   */
  constructor(context: MovementContext, mints: MintTable, owners: TokenOwners) {
    const { tx, instructions, orders } = context
    const count = tx.accountKeys.length
    this.context = context
    this.mints = mints
    this.mintOf = new Int16Array(count).fill(NO_MINT)
    this.ownerOf = new Uint32Array(count)
    this.createdAt = new Int16Array(count).fill(-1)
    for (const balances of [tx.postTokenBalances, tx.preTokenBalances]) {
      for (const balance of balances) {
        const mint = mints.numberOf(balance.mint)
        mints.setDecimals(mint, balance.decimals)
        this.mintOf[balance.accountIndex] = mint
        this.ownerOf[balance.accountIndex] = owners.of(balance)
      }
    }
    for (const { at, program, instruction } of instructions) {
      if (program === 'system') {
        if (instruction.kind === 'create' || instruction.kind === 'allocate') {
          this.createdAt[instruction.account] = at
        }
      } else if (instruction.kind === 'initialize_account') {
        if (this.mintOf[instruction.account] === NO_MINT) this.initialize(instruction)
      }
    }
    for (const [account, wallet] of orders.escrows) this.ownerOf[account] = wallet
  }

  /** Number of the mint of a token account; `NO_MINT` for other accounts. */
  mint(account: number): number {
    return this.mintOf[account]!
  }

  isWsol(account: number): boolean {
    return this.mintOf[account] === SOL
  }

  /** Tracked wallet that owns the token account; 0 if none does. */
  owner(account: number): number {
    return this.ownerOf[account]!
  }

  /** Tracked wallet whose key the account is, or that owns the token account; 0 if none. */
  holder(account: number): number {
    return this.context.named.atKey[account]! || this.ownerOf[account]!
  }

  /**
   * Tracked wallet to whose SOL pool the account belongs: its system account and its WSOL accounts.
   * 0 if none.
   */
  pool(account: number): number {
    const wallet = this.context.named.atKey[account]!
    return wallet !== 0 || !this.isWsol(account) ? wallet : this.ownerOf[account]!
  }

  /** Index of the last instruction that creates or allocates the account; -1 when none does. */
  created(account: number): number {
    return this.createdAt[account]!
  }

  /** Sets mint and owner of a token account that an instruction opens. */
  initialize({ account, mint, owner }: TokenInstruction & { kind: 'initialize_account' }): void {
    this.mintOf[account] = this.mints.numberAt(mint)
    this.setOwner(account, owner)
  }

  /**
   * Sets the owner, an account index or a key. An escrow keeps the owner of its order (rule B2a).
   */
  setOwner(account: number, owner: number | Uint8Array): void {
    const { named, wallets, orders } = this.context
    if (orders.escrows.has(account)) return
    const wallet = typeof owner === 'number' ? named.atKey[owner]! : wallets.numberOfKey(owner)
    this.ownerOf[account] = wallet !== undefined && named.wallets.includes(wallet) ? wallet : 0
  }

  /** Clears the owner of a closed token account. */
  close(account: number): void {
    this.ownerOf[account] = 0
  }

  /** Lamports of the account at this point. */
  lamports(account: number): bigint {
    return this.context.tx.lamportsBefore(account) + (this.gained[account] ?? 0n)
  }

  /** Moves lamports from one account to another. */
  shift(source: number, destination: number, lamports: bigint): void {
    this.gained[source] = (this.gained[source] ?? 0n) - lamports
    this.gained[destination] = (this.gained[destination] ?? 0n) + lamports
  }

  /** Lamports of a WSOL account beyond the SOL that it wraps. */
  wsolRent(account: number): bigint {
    const { tx } = this.context
    const before = tx.preTokenBalances.find(({ accountIndex }) => accountIndex === account)
    return before === undefined ? TOKEN_ACCOUNT_RENT : tx.lamportsBefore(account) - before.amount
  }

  /** Lamports that a WSOL account still needs to be rent-exempt. */
  missingWsolRent(account: number): bigint {
    const there = this.lamports(account)
    return there >= TOKEN_ACCOUNT_RENT ? 0n : TOKEN_ACCOUNT_RENT - there
  }

  /**
   * Lamports of accounts that ended at zero although no instruction emptied them. A program closes
   * its own accounts that way (rule B3).
   */
  closedByPrograms(): bigint {
    const { tx, named } = this.context
    let sum = 0n
    for (let i = 0; i < tx.accountKeys.length; i++) {
      if (named.atKey[i] !== 0 || tx.lamportsAfter(i) !== 0n) continue
      const left = this.lamports(i)
      if (left > 0n) sum += left
    }
    return sum
  }
}
