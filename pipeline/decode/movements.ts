import type { Transaction } from '../domain/transaction.ts'
import type { Wallets } from '../domain/wallets.ts'
import { MintTable, NO_MINT, SOL } from './mint-table.ts'
import type { NamedWallets } from './named-wallets.ts'
import type { OrderBook } from './orders.ts'
import type { Credit } from './program.ts'
import { isTip, type KnownProgram } from './registry.ts'
import { readSystemInstruction, type SystemInstruction } from './system-program.ts'
import { type TokenOwners, tokenOwners } from './token-owners.ts'
import { readTokenInstruction, type TokenInstruction } from './token-program.ts'
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

/** Everything that moved in a transaction, for all wallets that it names. */
export interface Movements {
  readonly mints: MintTable
  readonly moves: readonly Move[]
  /** Wallet that owns the account of a token balance; 0 for everybody else. */
  readonly owners: TokenOwners
  /** Credits whose amount the venue did not tell, with their weights (decisions B5). */
  readonly untold: readonly { readonly move: Move; readonly weight: bigint }[]
  /** Mints that something minted or burned. */
  readonly mintedOrBurned: ReadonlySet<number>
  /** Lamports of accounts that ended empty though no instruction that we read emptied them: programs that close their own accounts. */
  closedByPrograms(): bigint
  /** Token transfers between accounts of which nothing told the mint. */
  readonly unreadable: number
}

/** What `readMovements` needs besides the transaction. */
export interface MovementContext {
  readonly tx: Transaction
  readonly wallets: Wallets
  readonly named: NamedWallets
  /** Known program of each account index that is one. */
  readonly programOf: (accountIndex: number) => KnownProgram | null
  readonly orders: OrderBook
  readonly creditAt: (place: number) => Credit | null
}

/** Rent of a token account of 165 bytes, which a WSOL account is. */
export const TOKEN_ACCOUNT_RENT = 2_039_280n

/** Reads every System and token instruction in order and says what it moved and whose it was. */
export function readMovements(context: MovementContext): Movements {
  const { tx, named, wallets, orders } = context
  const { instructions, accountKeys } = tx
  const mints = new MintTable(tx)
  const mintOf = new Int16Array(accountKeys.length).fill(NO_MINT)
  const ownerOf = new Uint32Array(accountKeys.length)
  const createdUntil = new Int32Array(accountKeys.length).fill(-1)
  const lamports = [...tx.preBalances]
  const moves: Move[] = []
  const untold: { move: Move; weight: bigint }[] = []
  const mintedOrBurned = new Set<number>()
  let unreadable = 0
  const feeMints = new Set<number>()

  const steps = readSteps(context)
  const owners = tokenOwners(context, steps)
  prepare()
  let next = 0
  for (let at = 0; at < instructions.length; at++) {
    const credit = context.creditAt(at)
    if (credit !== null) applyCredit(at, credit)
    for (; next < steps.length && steps[next]!.at === at; next++) {
      const step = steps[next]!
      if (step.program === 'system') applySystem(at, step.instruction)
      else applyToken(at, step.instruction, step.token2022)
    }
  }
  if (feeMints.size > 0) settleTransferFees(tx, moves, feeMints)
  return { mints, moves, owners, untold, mintedOrBurned, closedByPrograms, unreadable }

  /** Owners and mints before the first instruction; for accounts that come into being later, those that they will have. */
  function prepare() {
    for (const balances of [tx.postTokenBalances, tx.preTokenBalances]) {
      for (const balance of balances) {
        const { accountIndex, decimals } = balance
        const number = mints.numberOf(balance.mint)
        mints.setDecimals(number, decimals)
        mintOf[accountIndex] = number
        ownerOf[accountIndex] = owners(balance)
      }
    }
    for (const { at, program, instruction } of steps) {
      if (instruction.kind === 'initialize_account') {
        if (mintOf[instruction.account] !== NO_MINT) continue
        mintOf[instruction.account] = mints.numberAt(instruction.mint)
        ownerOf[instruction.account] = initialOwner(instruction.owner)
      } else if (program === 'system') {
        if (instruction.kind === 'create' || instruction.kind === 'allocate') {
          createdUntil[instruction.account] = at
        }
      }
    }
    for (const [account, wallet] of orders.escrows) ownerOf[account] = wallet
  }

  function ours(wallet: number | undefined): number {
    return wallet !== undefined && named.wallets.includes(wallet) ? wallet : 0
  }

  function initialOwner(owner: number | Uint8Array): number {
    return typeof owner === 'number' ? named.atKey[owner]! : ours(wallets.numberOfKey(owner))
  }

  /** Whose lamports an account holds. */
  function holder(account: number): number {
    return named.atKey[account]! || ownerOf[account]!
  }

  /** The wallet whose pool of SOL the account is part of: its system account and its WSOL accounts. */
  function pool(account: number): number {
    return named.atKey[account]! || (mintOf[account] === SOL ? ownerOf[account]! : 0)
  }

  function push(
    at: number,
    kind: Move['kind'],
    mint: number,
    source: number,
    destination: number,
    from: number,
    to: number,
    sent: bigint,
    received: bigint,
    ontoCreated = false,
  ): Move {
    const move = { at, kind, mint, source, destination, from, to, sent, received, ontoCreated }
    moves.push(move)
    return move
  }

  function shift(source: number, destination: number, amount: bigint) {
    lamports[source] = lamports[source]! - amount
    lamports[destination] = lamports[destination]! + amount
  }

  function applyCredit(at: number, { source, destination, lamports, weight }: Credit) {
    const to = named.atKey[destination]!
    if (to === 0) return
    const amount = lamports ?? 0n
    const move = push(at, 'credit', SOL, source, destination, 0, to, amount, amount)
    if (lamports === null) untold.push({ move, weight })
    else shift(source, destination, amount)
  }

  function applySystem(at: number, step: SystemInstruction) {
    if (step.kind === 'allocate') return
    const { source, lamports: amount } = step
    const destination = step.kind === 'create' ? step.account : step.destination
    if (amount === 0n || source === destination) return
    const from = named.atKey[source]!
    const to = holder(destination)
    const before = lamports[destination]!
    shift(source, destination, amount)
    const isWsol = mintOf[destination] === SOL
    const ontoCreated = step.kind === 'transfer' && !isWsol && createdUntil[destination]! >= 0
    let rent = 0n
    if (step.kind === 'withdraw_nonce') {
      rent = amount
    } else if (step.kind === 'create' || createdUntil[destination]! > at) {
      if (!isWsol) rent = amount
      else if (from !== to || from === 0) rent = least(amount, missing(before))
    } else if (from !== 0 && isTip(tx.accountKeys[destination]!)) {
      push(at, 'tip', SOL, source, destination, from, to, amount, amount)
      return
    }
    if (rent > 0n) {
      const into = pool(destination)
      push(at, 'rent', SOL, source, destination, from, into, rent, rent, ontoCreated)
    }
    const flow = amount - rent
    if (flow > 0n) push(at, 'sol', SOL, source, destination, from, to, flow, flow, ontoCreated)
  }

  function applyToken(at: number, step: TokenInstruction, token2022: boolean) {
    switch (step.kind) {
      case 'transfer': {
        const mint = mintOfTransfer(step.source, step.destination, step.mint)
        if (mint === NO_MINT) {
          unreadable++
          return
        }
        mints.setDecimals(mint, step.decimals)
        if (step.amount === 0n || step.source === step.destination) return
        if (mint === SOL) shift(step.source, step.destination, step.amount)
        if (token2022 && step.fee === null) feeMints.add(mint)
        const [from, to] = [ownerOf[step.source]!, ownerOf[step.destination]!]
        const received = step.amount - least(step.fee ?? 0n, step.amount)
        push(at, 'token', mint, step.source, step.destination, from, to, step.amount, received)
        return
      }
      case 'mint':
      case 'burn': {
        const { account, amount, decimals } = step
        const known = mintOf[account]!
        const mint = known === NO_MINT ? mints.numberAt(step.mint) : known
        mints.setDecimals(mint, decimals)
        mintedOrBurned.add(mint)
        if (amount === 0n) return
        const owner = ownerOf[account]!
        if (step.kind === 'mint') push(at, 'mint', mint, -1, account, 0, owner, amount, amount)
        else push(at, 'burn', mint, account, -1, owner, 0, amount, amount)
        return
      }
      case 'close':
        close(at, step.account, step.destination)
        return
      case 'unwrap': {
        const held = lamports[step.source]! - rentOf(step.source)
        const amount = least(step.amount ?? held, held)
        if (amount <= 0n) return
        shift(step.source, step.destination, amount)
        const [from, to] = [ownerOf[step.source]!, holder(step.destination)]
        push(at, 'unwrap', SOL, step.source, step.destination, from, to, amount, amount)
        return
      }
      case 'initialize_account':
        mintOf[step.account] = mints.numberAt(step.mint)
        if (!orders.escrows.has(step.account)) {
          ownerOf[step.account] = initialOwner(step.owner)
        }
        return
      case 'set_owner':
        if (orders.escrows.has(step.account)) return
        ownerOf[step.account] = ours(wallets.numberOfKey(step.owner))
        return
      case 'initialize_mint':
        mints.setDecimals(mints.numberAt(step.mint), step.decimals)
    }
  }

  function mintOfTransfer(source: number, destination: number, named: number | null): number {
    const mint = mintOf[source]! !== NO_MINT ? mintOf[source]! : mintOf[destination]!
    if (mint !== NO_MINT || named === null) return mint
    return mints.numberAt(named)
  }

  /** CloseAccount gives all lamports away: those that a WSOL account wraps, and its rent. */
  function close(at: number, account: number, destination: number) {
    const all = lamports[account]!
    if (account === destination || all <= 0n) return
    const from = ownerOf[account]!
    const to = holder(destination)
    const isWsol = mintOf[account] === SOL
    const rent = isWsol ? least(rentOf(account), all) : all
    shift(account, destination, all)
    ownerOf[account] = 0
    if (isWsol && from === to && from !== 0) {
      push(at, 'unwrap', SOL, account, destination, from, to, all, all)
      return
    }
    const wrapped = all - rent
    if (wrapped > 0n) push(at, 'unwrap', SOL, account, destination, from, to, wrapped, wrapped)
    // Rent on a WSOL account belongs to its owner's pool; on any other account it is outside of it.
    if (rent > 0n) {
      const [out, into] = [isWsol ? from : 0, pool(destination)]
      push(at, 'rent', SOL, account, destination, out, into, rent, rent)
    }
  }

  /** What a WSOL account keeps beside the SOL that it wraps. */
  function rentOf(account: number): bigint {
    const before = tx.preTokenBalances.find((balance) => balance.accountIndex === account)
    if (before === undefined) return TOKEN_ACCOUNT_RENT
    return tx.preBalances[account]! - before.amount
  }

  function missing(lamportsThere: bigint): bigint {
    return lamportsThere >= TOKEN_ACCOUNT_RENT ? 0n : TOKEN_ACCOUNT_RENT - lamportsThere
  }

  function closedByPrograms(): bigint {
    let sum = 0n
    for (let i = 0; i < lamports.length; i++) {
      if (tx.postBalances[i] === 0n && lamports[i]! > 0n && named.atKey[i] === 0)
        sum += lamports[i]!
    }
    return sum
  }
}

/** A System or token instruction as read. */
export type Step = { readonly at: number } & (
  | { readonly program: 'system'; readonly instruction: SystemInstruction }
  | {
      readonly program: 'token'
      readonly instruction: TokenInstruction
      readonly token2022: boolean
    }
)

function readSteps({ tx, programOf }: MovementContext): Step[] {
  const steps: Step[] = []
  tx.instructions.forEach(({ programIndex, accounts, data }, at) => {
    const program = programOf(programIndex)
    if (program?.kind === 'system') {
      const instruction = readSystemInstruction(accounts, data)
      if (instruction !== null) steps.push({ at, program: 'system', instruction })
    } else if (program?.kind === 'token') {
      const { token2022 } = program
      readTokenInstruction(accounts, data, (instruction) => {
        steps.push({ at, program: 'token', instruction, token2022 })
      })
    }
  })
  return steps
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
