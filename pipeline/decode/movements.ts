import { AccountStates } from './account-states.ts'
import { MintTable, NO_MINT, QUOTES, SOL } from './mint-table.ts'
import type { Move } from './move.ts'
import type { MovementContext } from './movement-context.ts'
import type { DirectCredit } from './program.ts'
import { isTipAccount } from './registry.ts'
import type { SystemInstruction } from './system-program.ts'
import { TokenOwners } from './token-owners.ts'
import type { TokenInstruction } from './token-program.ts'
import { settleTransferFees } from './transfer-fees.ts'

/**
 * All moves of a transaction, for every tracked wallet that it names. Applies the instructions in
 * order and tracks the owner of each account while it does.
 */
export class Movements {
  readonly mints: MintTable
  readonly moves: Move[] = []
  /** Resolves the tracked wallet that owns the account of a token balance. */
  readonly owners: TokenOwners
  /** Credits whose amount the venue did not state, with their weights (rule B5). */
  readonly unstatedCredits: { readonly move: Move; readonly weight: bigint }[] = []
  /** Mints of which tokens were minted or burned. */
  readonly mintedOrBurned: number[] = []
  /** Number of token transfers whose mint could not be determined. */
  unreadable = 0
  /** Whether USDC or USDT moved from or to a tracked wallet. */
  dollarsMoved = false

  private readonly context: MovementContext
  private readonly states: AccountStates
  /** Mints that Token-2022 transferred without stating the fee. */
  private readonly feeMints: number[] = []

  constructor(context: MovementContext) {
    const { tx, instructions, credits } = context
    this.context = context
    this.mints = new MintTable(tx)
    this.owners = new TokenOwners(context)
    this.states = new AccountStates(context, this.mints, this.owners)
    const pending = [...credits]
    for (const entry of instructions) {
      while (pending.length > 0 && pending[0]![0] <= entry.at) this.credit(...pending.shift()!)
      if (entry.program === 'system') this.system(entry.at, entry.instruction)
      else this.token(entry.at, entry.instruction, entry.token2022)
    }
    for (const [at, credit] of pending) this.credit(at, credit)
    if (this.feeMints.length > 0) settleTransferFees(tx, this.moves, this.feeMints)
  }

  /** Lamports of accounts that programs closed without an instruction (rule B3). */
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

  private credit(at: number, { source, destination, lamports, weight }: DirectCredit): void {
    const to = this.context.named.atKey[destination]!
    if (to === 0) return
    const move = this.sol(at, 'credit', source, destination, 0, to, lamports ?? 0n)
    if (lamports === null) this.unstatedCredits.push({ move, weight })
    else this.states.shift(source, destination, lamports)
  }

  private system(at: number, instruction: SystemInstruction): void {
    if (instruction.kind === 'allocate') return
    const { states, context } = this
    const { source, lamports: amount } = instruction
    const destination =
      instruction.kind === 'create' ? instruction.account : instruction.destination
    if (amount === 0n || source === destination) return
    const from = context.named.atKey[source]!
    const to = states.holder(destination)
    const created = states.created(destination)
    let rent = 0n
    if (instruction.kind === 'withdraw_nonce') {
      rent = amount
    } else if (instruction.kind === 'create' || created > at) {
      // A wallet's rent on its own WSOL account stays in its SOL pool. On someone else's WSOL
      // account, only what exceeds the rent is a flow.
      if (!states.isWsol(destination)) rent = amount
      else if (from !== to || from === 0) rent = least(amount, states.missingWsolRent(destination))
    } else if (from !== 0 && isTipAccount(context.tx.accountKeys[destination]!)) {
      states.shift(source, destination, amount)
      this.sol(at, 'tip', source, destination, from, to, amount)
      return
    }
    states.shift(source, destination, amount)
    const ontoCreated =
      instruction.kind === 'transfer' && created >= 0 && !states.isWsol(destination)
    if (rent > 0n) {
      this.sol(at, 'rent', source, destination, from, states.pool(destination), rent, ontoCreated)
    }
    const flow = amount - rent
    if (flow > 0n) this.sol(at, 'sol', source, destination, from, to, flow, ontoCreated)
  }

  private token(at: number, instruction: TokenInstruction, token2022: boolean): void {
    switch (instruction.kind) {
      case 'transfer':
        this.transfer(at, instruction, token2022)
        return
      case 'mint':
      case 'burn':
        this.mintOrBurn(at, instruction)
        return
      case 'close':
        this.close(at, instruction.account, instruction.destination)
        return
      case 'unwrap':
        this.unwrap(at, instruction)
        return
      case 'initialize_account':
        this.states.initialize(instruction)
        return
      case 'set_owner':
        this.states.setOwner(instruction.account, instruction.owner)
        return
      case 'initialize_mint':
        this.mints.setDecimals(this.mints.numberAt(instruction.mint), instruction.decimals)
    }
  }

  private transfer(
    at: number,
    instruction: TokenInstruction & { kind: 'transfer' },
    token2022: boolean,
  ): void {
    const { states } = this
    const { source, destination, amount, fee } = instruction
    let mint = states.mint(source) === NO_MINT ? states.mint(destination) : states.mint(source)
    if (mint === NO_MINT && instruction.mint !== null) mint = this.mints.numberAt(instruction.mint)
    if (mint === NO_MINT) {
      this.unreadable++
      return
    }
    this.mints.setDecimals(mint, instruction.decimals)
    if (amount === 0n || source === destination) return
    if (mint === SOL) states.shift(source, destination, amount)
    if (token2022 && fee === null && !this.feeMints.includes(mint)) this.feeMints.push(mint)
    const [from, to] = [states.owner(source), states.owner(destination)]
    const received = fee === null ? amount : amount - least(fee, amount)
    this.push(at, 'token', mint, source, destination, from, to, amount, received, false)
  }

  private mintOrBurn(at: number, instruction: TokenInstruction & { kind: 'mint' | 'burn' }): void {
    const { account, amount, decimals } = instruction
    const known = this.states.mint(account)
    const mint = known === NO_MINT ? this.mints.numberAt(instruction.mint) : known
    this.mints.setDecimals(mint, decimals)
    if (!this.mintedOrBurned.includes(mint)) this.mintedOrBurned.push(mint)
    if (amount === 0n) return
    const owner = this.states.owner(account)
    if (instruction.kind === 'mint') {
      this.push(at, 'mint', mint, -1, account, 0, owner, amount, amount, false)
    } else {
      this.push(at, 'burn', mint, account, -1, owner, 0, amount, amount, false)
    }
  }

  /**
   * Applies CloseAccount, which pays out all lamports: the SOL that a WSOL account wraps, and the
   * rent.
   */
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
      // The rent of a WSOL account belongs to its owner's SOL pool. The rent of any other account
      // does not.
      const payer = isWsol ? from : 0
      this.sol(at, 'rent', account, destination, payer, states.pool(destination), rent)
    }
  }

  private unwrap(at: number, instruction: TokenInstruction & { kind: 'unwrap' }): void {
    const { states } = this
    const { source, destination } = instruction
    const held = states.lamports(source) - states.wsolRent(source)
    const amount = least(instruction.amount ?? held, held)
    if (amount <= 0n) return
    states.shift(source, destination, amount)
    const [from, to] = [states.owner(source), states.holder(destination)]
    this.sol(at, 'unwrap', source, destination, from, to, amount)
  }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
