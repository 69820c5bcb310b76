import type { Transaction } from '../domain/transaction.ts'
import type { Wallets } from '../domain/wallets.ts'
import { MintTable, NO_MINT, SOL } from './mint-table.ts'
import type { NamedWallets } from './named-wallets.ts'
import type { OrderBook } from './orders.ts'
import type { Credit } from './program.ts'
import { isTip } from './registry.ts'
import type { SystemInstruction } from './system-program.ts'
import { TokenOwners } from './token-owners.ts'
import type { TokenInstruction } from './token-program.ts'
import { settleTransferFees } from './transfer-fees.ts'

/**
 * One thing that moved, in order of execution. Native SOL and WSOL are one coin, mint `SOL`. `from` and `to` are the tracked wallets that
 * owned source and destination at that moment, 0 for everybody else; a wallet's own system account and its WSOL accounts are one pool.
 */
export interface Move {
  /** Place of the instruction. */
  readonly at: number
  /**
   * `token`, `mint`, `burn`: the token programs'. `sol`: System transfers. `unwrap`: what a WSOL account held when it was closed in favour of
   * somebody else. `credit`: lamports that a venue put on an account directly. Not flows (decisions B3): `rent` put on or given back by
   * accounts, `tip`.
   */
  readonly kind: 'token' | 'mint' | 'burn' | 'sol' | 'unwrap' | 'credit' | 'rent' | 'tip'
  readonly mint: number
  /** Account indexes; -1 where tokens come out of or go into nothing. */
  readonly source: number
  readonly destination: number
  readonly from: number
  readonly to: number
  readonly sent: bigint
  /** `sent` less the mint's transfer fee. Settled once the whole transaction is read. */
  received: bigint
  /** A System transfer onto an account, not a WSOL account, that this transaction creates (decisions B13). */
  readonly ontoCreated: boolean
}

/** A System or token instruction as read, with its place. */
export type Step = { readonly at: number } & (
  | { readonly program: 'system'; readonly instruction: SystemInstruction }
  | {
      readonly program: 'token'
      readonly instruction: TokenInstruction
      readonly token2022: boolean
    }
)

/** What movements are read from. */
export interface MovementContext {
  readonly tx: Transaction
  readonly wallets: Wallets
  readonly named: NamedWallets
  readonly orders: OrderBook
  /** In order of execution. */
  readonly steps: readonly Step[]
  /** Direct credits by the place of the venue's instruction. */
  readonly credits: ReadonlyMap<number, Credit>
}

/** Rent of a token account of 165 bytes, which a WSOL account is. */
const TOKEN_ACCOUNT_RENT = 2_039_280n

/** Everything that moved in a transaction, for all wallets that it names: reads the steps in order and keeps whose each account is. */
export class Movements {
  readonly mints: MintTable
  readonly moves: Move[] = []
  /** Wallet that owns the account of a token balance. */
  readonly owners: TokenOwners
  /** Credits whose amount the venue did not tell, with their weights (decisions B5). */
  readonly untold: { readonly move: Move; readonly weight: bigint }[] = []
  /** Mints that something minted or burned. */
  readonly mintedOrBurned: number[] = []
  /** Token transfers between accounts of which nothing told the mint. */
  unreadable = 0
  /** Whether USDC or USDT moved from or to a tracked wallet. */
  dollarsMoved = false

  private readonly context: MovementContext
  /** State of each account at the step in hand. */
  private readonly mintOf: Int16Array
  private readonly ownerOf: Uint32Array
  /** Last place at which the account is created or allocated; -1 for those that were there before. */
  private readonly createdUntil: Int16Array
  /** Lamports that came to an account so far. */
  private readonly gained: bigint[] = []
  /** Mints of which Token-2022 moved amounts without telling a fee. */
  private readonly feeMints: number[] = []

  constructor(context: MovementContext) {
    const { tx, steps, credits } = context
    const count = tx.accountKeys.length
    this.context = context
    this.mints = new MintTable(tx)
    this.owners = new TokenOwners(context)
    this.mintOf = new Int16Array(count).fill(NO_MINT)
    this.ownerOf = new Uint32Array(count)
    this.createdUntil = new Int16Array(count).fill(-1)
    this.prepare()
    const pending = [...credits]
    for (const step of steps) {
      while (pending.length > 0 && pending[0]![0] <= step.at) this.credit(...pending.shift()!)
      if (step.program === 'system') this.system(step.at, step.instruction)
      else this.token(step.at, step.instruction, step.token2022)
    }
    for (const [at, credit] of pending) this.credit(at, credit)
    if (this.feeMints.length > 0) settleTransferFees(tx, this.moves, this.feeMints)
  }

  /** Lamports of accounts that ended empty though no instruction emptied them: programs close their own accounts so (decisions B3). */
  closedByPrograms(): bigint {
    const { tx, named } = this.context
    let sum = 0n
    for (let i = 0; i < tx.accountKeys.length; i++) {
      if (named.atKey[i] !== 0 || tx.lamportsAfter(i) !== 0n) continue
      const left = this.lamportsAt(i)
      if (left > 0n) sum += left
    }
    return sum
  }

  /** Owners and mints before the first instruction; for accounts that come into being later, those that they will have. */
  private prepare(): void {
    const { tx, steps, orders } = this.context
    for (const balances of [tx.postTokenBalances, tx.preTokenBalances]) {
      for (const balance of balances) {
        const mint = this.mints.numberOf(balance.mint)
        this.mints.setDecimals(mint, balance.decimals)
        this.mintOf[balance.accountIndex] = mint
        this.ownerOf[balance.accountIndex] = this.owners.of(balance)
      }
    }
    for (const { at, program, instruction } of steps) {
      if (program === 'system') {
        if (instruction.kind === 'create' || instruction.kind === 'allocate') {
          this.createdUntil[instruction.account] = at
        }
      } else if (instruction.kind === 'initialize_account') {
        if (this.mintOf[instruction.account] === NO_MINT) this.initialize(instruction)
      }
    }
    for (const [account, wallet] of orders.escrows) this.ownerOf[account] = wallet
  }

  private initialize({ account, mint, owner }: TokenInstruction & { kind: 'initialize_account' }) {
    this.mintOf[account] = this.mints.numberAt(mint)
    this.setOwner(account, owner)
  }

  private setOwner(account: number, owner: number | Uint8Array): void {
    const { named, wallets, orders } = this.context
    if (orders.escrows.has(account)) return
    const wallet = typeof owner === 'number' ? named.atKey[owner]! : wallets.numberOfKey(owner)
    this.ownerOf[account] = wallet !== undefined && named.wallets.includes(wallet) ? wallet : 0
  }

  /** Whose lamports an account holds. */
  private holder(account: number): number {
    return this.context.named.atKey[account]! || this.ownerOf[account]!
  }

  /** The wallet whose pool of SOL the account is part of: its system account and its WSOL accounts. */
  private pool(account: number): number {
    const wallet = this.context.named.atKey[account]!
    return wallet !== 0 || this.mintOf[account] !== SOL ? wallet : this.ownerOf[account]!
  }

  private push(
    at: number,
    kind: Move['kind'],
    mint: number,
    source: number,
    destination: number,
    from: number,
    to: number,
    sent: bigint,
    received: bigint,
    ontoCreated: boolean,
  ): Move {
    const move = { at, kind, mint, source, destination, from, to, sent, received, ontoCreated }
    this.moves.push(move)
    if (mint !== SOL && mint < 3 && (from !== 0 || to !== 0)) this.dollarsMoved = true
    return move
  }

  private sol(
    at: number,
    kind: Move['kind'],
    source: number,
    destination: number,
    from: number,
    to: number,
    amount: bigint,
    ontoCreated = false,
  ): Move {
    return this.push(at, kind, SOL, source, destination, from, to, amount, amount, ontoCreated)
  }

  private lamportsAt(account: number): bigint {
    return this.context.tx.lamportsBefore(account) + (this.gained[account] ?? 0n)
  }

  private shift(source: number, destination: number, amount: bigint): void {
    this.gained[source] = (this.gained[source] ?? 0n) - amount
    this.gained[destination] = (this.gained[destination] ?? 0n) + amount
  }

  private credit(at: number, { source, destination, lamports, weight }: Credit): void {
    const to = this.context.named.atKey[destination]!
    if (to === 0) return
    const move = this.sol(at, 'credit', source, destination, 0, to, lamports ?? 0n)
    if (lamports === null) this.untold.push({ move, weight })
    else this.shift(source, destination, lamports)
  }

  private system(at: number, step: SystemInstruction): void {
    if (step.kind === 'allocate') return
    const { source, lamports: amount } = step
    const destination = step.kind === 'create' ? step.account : step.destination
    if (amount === 0n || source === destination) return
    const from = this.context.named.atKey[source]!
    const to = this.holder(destination)
    const isWsol = this.mintOf[destination] === SOL
    const created = this.createdUntil[destination]!
    let rent = 0n
    if (step.kind === 'withdraw_nonce') {
      rent = amount
    } else if (step.kind === 'create' || created > at) {
      // On a WSOL account of one's own, rent stays in the pool; on somebody else's, what exceeds its rent is a flow.
      if (!isWsol) rent = amount
      else if (from !== to || from === 0) rent = least(amount, this.missingRent(destination))
    } else if (from !== 0 && isTip(this.context.tx.accountKeys[destination]!)) {
      this.shift(source, destination, amount)
      this.sol(at, 'tip', source, destination, from, to, amount)
      return
    }
    this.shift(source, destination, amount)
    const ontoCreated = step.kind === 'transfer' && !isWsol && created >= 0
    if (rent > 0n) {
      this.sol(at, 'rent', source, destination, from, this.pool(destination), rent, ontoCreated)
    }
    const flow = amount - rent
    if (flow > 0n) this.sol(at, 'sol', source, destination, from, to, flow, ontoCreated)
  }

  private token(at: number, step: TokenInstruction, token2022: boolean): void {
    switch (step.kind) {
      case 'transfer':
        this.transfer(at, step, token2022)
        return
      case 'mint':
      case 'burn': {
        const { account, amount, decimals } = step
        const known = this.mintOf[account]!
        const mint = known === NO_MINT ? this.mints.numberAt(step.mint) : known
        this.mints.setDecimals(mint, decimals)
        if (!this.mintedOrBurned.includes(mint)) this.mintedOrBurned.push(mint)
        if (amount === 0n) return
        const owner = this.ownerOf[account]!
        if (step.kind === 'mint') {
          this.push(at, 'mint', mint, -1, account, 0, owner, amount, amount, false)
        } else {
          this.push(at, 'burn', mint, account, -1, owner, 0, amount, amount, false)
        }
        return
      }
      case 'close':
        this.close(at, step.account, step.destination)
        return
      case 'unwrap': {
        const { source, destination } = step
        const held = this.lamportsAt(source) - this.rentOf(source)
        const amount = least(step.amount ?? held, held)
        if (amount <= 0n) return
        const from = this.ownerOf[source]!
        this.shift(source, destination, amount)
        this.sol(at, 'unwrap', source, destination, from, this.holder(destination), amount)
        return
      }
      case 'initialize_account':
        this.initialize(step)
        return
      case 'set_owner':
        this.setOwner(step.account, step.owner)
        return
      case 'initialize_mint':
        this.mints.setDecimals(this.mints.numberAt(step.mint), step.decimals)
    }
  }

  private transfer(
    at: number,
    step: TokenInstruction & { kind: 'transfer' },
    token2022: boolean,
  ): void {
    const { source, destination, amount, fee } = step
    const mint = this.mintOfTransfer(source, destination, step.mint)
    if (mint === NO_MINT) {
      this.unreadable++
      return
    }
    this.mints.setDecimals(mint, step.decimals)
    if (amount === 0n || source === destination) return
    if (mint === SOL) this.shift(source, destination, amount)
    if (token2022 && fee === null && !this.feeMints.includes(mint)) this.feeMints.push(mint)
    const from = this.ownerOf[source]!
    const to = this.ownerOf[destination]!
    const received = fee === null ? amount : amount - least(fee, amount)
    this.push(at, 'token', mint, source, destination, from, to, amount, received, false)
  }

  private mintOfTransfer(source: number, destination: number, named: number | null): number {
    const mint = this.mintOf[source] === NO_MINT ? this.mintOf[destination]! : this.mintOf[source]!
    return mint === NO_MINT && named !== null ? this.mints.numberAt(named) : mint
  }

  /** CloseAccount gives all lamports away: those that a WSOL account wraps, and its rent. */
  private close(at: number, account: number, destination: number): void {
    const all = this.lamportsAt(account)
    if (account === destination || all <= 0n) return
    const from = this.ownerOf[account]!
    const to = this.holder(destination)
    const isWsol = this.mintOf[account] === SOL
    this.shift(account, destination, all)
    this.ownerOf[account] = 0
    if (isWsol && from === to && from !== 0) {
      this.sol(at, 'unwrap', account, destination, from, to, all)
      return
    }
    const rent = isWsol ? least(this.rentOf(account), all) : all
    if (all > rent) this.sol(at, 'unwrap', account, destination, from, to, all - rent)
    if (rent > 0n) {
      // Rent on a WSOL account belongs to its owner's pool; on any other account it is outside of it.
      const payer = isWsol ? from : 0
      this.sol(at, 'rent', account, destination, payer, this.pool(destination), rent)
    }
  }

  /** What a WSOL account keeps beside the SOL that it wraps. */
  private rentOf(account: number): bigint {
    const { tx } = this.context
    const before = tx.preTokenBalances.find(({ accountIndex }) => accountIndex === account)
    return before === undefined ? TOKEN_ACCOUNT_RENT : tx.lamportsBefore(account) - before.amount
  }

  private missingRent(account: number): bigint {
    const there = this.lamportsAt(account)
    return there >= TOKEN_ACCOUNT_RENT ? 0n : TOKEN_ACCOUNT_RENT - there
  }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
