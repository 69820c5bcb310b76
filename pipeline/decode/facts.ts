import type { Transaction } from '../domain/transaction.ts'
import type { Wallets } from '../domain/wallets.ts'
import { type InstructionTree, instructionTree } from './instruction-tree.ts'
import { type Movements, readMovements } from './movements.ts'
import type { NamedWallets } from './named-wallets.ts'
import { NO_ORDERS, type OrderBook, type PlacedStep, readOrders } from './orders.ts'
import type { Credit, Program } from './program.ts'
import { type KnownProgram, knownProgram } from './registry.ts'

/** A call of a swap entry point of a venue or router (decisions B4). */
export interface SwapCall {
  /** Place of the instruction. */
  readonly at: number
  readonly program: Program
}

/** What happened in a transaction, read once for all tracked wallets that it names. */
export interface Facts extends Movements {
  readonly tx: Transaction
  readonly tree: InstructionTree
  readonly named: NamedWallets
  readonly wallets: Wallets
  readonly orders: OrderBook
  /** In order of execution. */
  readonly swapCalls: readonly SwapCall[]
  /** Known program of the instruction at a place; null for every other program. */
  readonly programAt: (place: number) => KnownProgram | null
}

/** Reads a transaction's instructions: who called whom, what is a swap, what moved. */
export function readFacts(tx: Transaction, named: NamedWallets, wallets: Wallets): Facts {
  const { instructions, accountKeys } = tx
  const tree = instructionTree(instructions)
  const seen: (KnownProgram | null | undefined)[] = []
  const programOf = (accountIndex: number): KnownProgram | null => {
    let program = seen[accountIndex]
    if (program === undefined) {
      program = knownProgram(accountKeys[accountIndex]!)
      seen[accountIndex] = program
    }
    return program
  }

  const entries: {
    at: number
    program: Program
    isSwap: true | 'two_mints' | 'two_mints_around'
  }[] = []
  const credits = new Map<number, Credit>()
  const steps: PlacedStep[] = []
  for (let at = 0; at < instructions.length; at++) {
    const instruction = instructions[at]!
    const program = programOf(instruction.programIndex)
    if (program === null) continue
    if (program.kind === 'venue' || program.kind === 'router') {
      const isSwap = program.isSwap?.(instruction.data, instruction.accounts) ?? false
      if (isSwap === false) continue
      entries.push({ at, program, isSwap })
      const credit = program.readCredit?.({ accountKeys, instructions, at, end: tree.end[at]! })
      if (credit) credits.set(at, credit)
    } else if (program.kind === 'order') {
      const step = program.readOrder?.(instruction)
      if (step) steps.push({ top: tree.top[at]!, program, step })
    }
  }

  const orders = steps.length === 0 ? NO_ORDERS : readOrders(steps, named)
  const movements = readMovements({
    tx,
    wallets,
    named,
    orders,
    programOf,
    creditAt: (place) => credits.get(place) ?? null,
  })
  return {
    ...movements,
    tx,
    tree,
    named,
    wallets,
    orders,
    swapCalls: entries.filter(({ at, isSwap }) => {
      const first = isSwap === 'two_mints_around' ? tree.top[at]! : at
      return isSwap === true || movesTwoMints(movements, first, tree.end[first]!)
    }),
    programAt: (place) => programOf(instructions[place]!.programIndex),
  }
}

/** Whether two mints moved by instructions from place `first` up to, not including, `end`; SOL and WSOL are one. */
export function movesTwoMints({ moves }: Movements, first: number, end: number): boolean {
  let mint: number | null = null
  for (const move of moves) {
    if (move.at < first || move.kind === 'rent' || move.kind === 'tip') continue
    if (move.at >= end) break
    if (mint !== null && mint !== move.mint) return true
    mint = move.mint
  }
  return false
}
