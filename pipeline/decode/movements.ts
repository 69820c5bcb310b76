import type { Transaction } from '../domain/transaction.ts'
import type { Wallets } from '../domain/wallets.ts'
import { AccountStates } from './account-states.ts'
import { MintTable, NO_MINT, QUOTES, SOL } from './mint-table.ts'
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
   * somebody else. `credit`: lamports that a venue put on an account directly. Not flows (rule B3): `rent` put on or given back by
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
  /** A System transfer onto an account, not a WSOL account, that this transaction creates (rule B13). */
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

/** Everything that moved in a transaction, for all wallets that it names: reads the steps in order and keeps whose each account is. */
export class Movements {
  readonly mints: MintTable
  readonly moves: Move[] = []
  /** Wallet that owns the account of a token balance. */
  readonly owners: TokenOwners
  /** Credits whose amount the venue did not tell, with their weights (rule B5). */
  readonly untold: { readonly move: Move; readonly weight: bigint }[] = []
  /** Mints that something minted or burned. */
  readonly mintedOrBurned: number[] = []
  /** Token transfers between accounts of which nothing told the mint. */
  unreadable = 0
  /** Whether USDC or USDT moved from or to a tracked wallet. */
  dollarsMoved = false

  private readonly context: MovementContext
  private readonly states: AccountStates
  /** Mints of which Token-2022 moved amounts without telling a fee. */
  private readonly feeMints: number[] = []

  constructor(context: MovementContext) {
    const { tx, steps, credits } = context
    this.context = context
    this.mints = new MintTable(tx)
    this.owners = new TokenOwners(context)
    this.states = new AccountStates(context, this.mints, this.owners)
    const pending = [...credits]
    for (const step of steps) {
      while (pending.length > 0 && pending[0]![0] <= step.at) this.credit(...pending.shift()!)
      if (step.program === 'system') this.system(step.at, step.instruction)
      else this.token(step.at, step.instruction, step.token2022)
    }
    for (const [at, credit] of pending) this.credit(at, credit)
    if (this.feeMints.length > 0) settleTransferFees(tx, this.moves, this.feeMints)
  }

  /** Lamports of accounts that programs closed on their own (rule B3). */
  closedByPrograms(): bigint {
    return this.states.closedByPrograms()
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
    if (mint !== SOL && mint < QUOTES && (from !== 0 || to !== 0)) this.dollarsMoved = true
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

  private credit(at: number, { source, destination, lamports, weight }: Credit): void {
    const to = this.context.named.atKey[destination]!
    if (to === 0) return
    const move = this.sol(at, 'credit', source, destination, 0, to, lamports ?? 0n)
    if (lamports === null) this.untold.push({ move, weight })
    else this.states.shift(source, destination, lamports)
  }

  private system(at: number, step: SystemInstruction): void {
    if (step.kind === 'allocate') return
    const { states, context } = this
    const { source, lamports: amount } = step
    const destination = step.kind === 'create' ? step.account : step.destination
    if (amount === 0n || source === destination) return
    const from = context.named.atKey[source]!
    const to = states.holder(destination)
    const created = states.created(destination)
    let rent = 0n
    if (step.kind === 'withdraw_nonce') {
      rent = amount
    } else if (step.kind === 'create' || created > at) {
      // On a WSOL account of one's own, rent stays in the pool; on somebody else's, what exceeds its rent is a flow.
      if (!states.isWsol(destination)) rent = amount
      else if (from !== to || from === 0) rent = least(amount, states.missingWsolRent(destination))
    } else if (from !== 0 && isTip(context.tx.accountKeys[destination]!)) {
      states.shift(source, destination, amount)
      this.sol(at, 'tip', source, destination, from, to, amount)
      return
    }
    states.shift(source, destination, amount)
    const ontoCreated = step.kind === 'transfer' && created >= 0 && !states.isWsol(destination)
    if (rent > 0n) {
      this.sol(at, 'rent', source, destination, from, states.pool(destination), rent, ontoCreated)
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
      case 'burn':
        this.mintOrBurn(at, step)
        return
      case 'close':
        this.close(at, step.account, step.destination)
        return
      case 'unwrap':
        this.unwrap(at, step)
        return
      case 'initialize_account':
        this.states.initialize(step)
        return
      case 'set_owner':
        this.states.setOwner(step.account, step.owner)
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
    const { states } = this
    const { source, destination, amount, fee } = step
    let mint = states.mint(source) === NO_MINT ? states.mint(destination) : states.mint(source)
    if (mint === NO_MINT && step.mint !== null) mint = this.mints.numberAt(step.mint)
    if (mint === NO_MINT) {
      this.unreadable++
      return
    }
    this.mints.setDecimals(mint, step.decimals)
    if (amount === 0n || source === destination) return
    if (mint === SOL) states.shift(source, destination, amount)
    if (token2022 && fee === null && !this.feeMints.includes(mint)) this.feeMints.push(mint)
    const [from, to] = [states.owner(source), states.owner(destination)]
    const received = fee === null ? amount : amount - least(fee, amount)
    this.push(at, 'token', mint, source, destination, from, to, amount, received, false)
  }

  private mintOrBurn(at: number, step: TokenInstruction & { kind: 'mint' | 'burn' }): void {
    const { account, amount, decimals } = step
    const known = this.states.mint(account)
    const mint = known === NO_MINT ? this.mints.numberAt(step.mint) : known
    this.mints.setDecimals(mint, decimals)
    if (!this.mintedOrBurned.includes(mint)) this.mintedOrBurned.push(mint)
    if (amount === 0n) return
    const owner = this.states.owner(account)
    if (step.kind === 'mint') {
      this.push(at, 'mint', mint, -1, account, 0, owner, amount, amount, false)
    } else {
      this.push(at, 'burn', mint, account, -1, owner, 0, amount, amount, false)
    }
  }

  /** CloseAccount gives all lamports away: those that a WSOL account wraps, and its rent. */
  private close(at: number, account: number, destination: number): void {
    const { states } = this
    const all = states.lamports(account)
    if (account === destination || all <= 0n) return
    const from = states.owner(account)
    const to = states.holder(destination)
    const isWsol = states.isWsol(account)
    states.shift(account, destination, all)
    states.close(account)
    if (isWsol && from === to && from !== 0) {
      this.sol(at, 'unwrap', account, destination, from, to, all)
      return
    }
    const rent = isWsol ? least(states.wsolRent(account), all) : all
    if (all > rent) this.sol(at, 'unwrap', account, destination, from, to, all - rent)
    if (rent > 0n) {
      // Rent on a WSOL account belongs to its owner's pool; on any other account it is outside of it.
      const payer = isWsol ? from : 0
      this.sol(at, 'rent', account, destination, payer, states.pool(destination), rent)
    }
  }

  private unwrap(at: number, step: TokenInstruction & { kind: 'unwrap' }): void {
    const { states } = this
    const { source, destination } = step
    const held = states.lamports(source) - states.wsolRent(source)
    const amount = least(step.amount ?? held, held)
    if (amount <= 0n) return
    states.shift(source, destination, amount)
    const [from, to] = [states.owner(source), states.holder(destination)]
    this.sol(at, 'unwrap', source, destination, from, to, amount)
  }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
