import type { Transaction } from '../domain/transaction.ts'
import type { Wallets } from '../domain/wallets.ts'
import { buildInstructionTree, type InstructionTree } from './instruction-tree.ts'
import type { AssetInstruction } from './movement-context.ts'
import { Movements } from './movements.ts'
import type { NamedWallets } from './named-wallets.ts'
import { NO_ORDERS, type OrderActivity, type PlacedOrderAction, readOrders } from './orders.ts'
import type { DirectCredit, EntryPoints, Program } from './program.ts'
import type { KnownProgram, ProgramRegistry } from './registry.ts'
import { readSystemInstruction } from './system-program.ts'
import { readTokenInstruction } from './token-program.ts'

/** A call of a swap entry point of a venue or router (rule B4). */
export interface SwapCall {
  /** Index of the instruction. */
  readonly at: number
  readonly program: Program
}

/** Contents of a transaction, read once for all tracked wallets that it names. */
export interface TransactionFacts {
  readonly tx: Transaction
  readonly named: NamedWallets
  readonly tree: InstructionTree
  /** Known program of the instruction at each index; null for any other program. */
  readonly programs: readonly (KnownProgram | null)[]
  /** Name of the labelled program of the instruction at an index (rule B11a); null without one. */
  readonly labelAt: (at: number) => string | null
  readonly orders: OrderActivity
  readonly movements: Movements
  /** Swap calls in order of execution. */
  readonly swapCalls: readonly SwapCall[]
}

/** Reads the instructions of a transaction: the call tree, the swap entry points and all moves. */
export function readTransactionFacts(
  tx: Transaction,
  named: NamedWallets,
  wallets: Wallets,
  registry: ProgramRegistry,
): TransactionFacts {
  const { instructions, accountKeys } = tx
  const tree = buildInstructionTree(instructions)
  const programs = knownPrograms(tx, registry)
  const assetInstructions: AssetInstruction[] = []
  const entries: EntryCall[] = []
  const credits = new Map<number, DirectCredit>()
  const orderActions: PlacedOrderAction[] = []
  for (let at = 0; at < instructions.length; at++) {
    const instruction = instructions[at]!
    const { data, accounts } = instruction
    const program = programs[at]!
    switch (program?.kind) {
      case 'system': {
        const read = readSystemInstruction(accounts, data)
        if (read !== null) assetInstructions.push({ at, program: 'system', instruction: read })
        break
      }
      case 'token': {
        const { token2022 } = program
        readTokenInstruction(accounts, data, (read) => {
          assetInstructions.push({ at, program: 'token', instruction: read, token2022 })
        })
        break
      }
      case 'venue':
      case 'router': {
        const isSwap = program.isSwap?.(data, accounts) ?? false
        if (isSwap === false) break
        entries.push({ at, program, isSwap })
        const credit = program.readCredit?.({ accountKeys, instructions, at, end: tree.end[at]! })
        if (credit) credits.set(at, credit)
        break
      }
      case 'order': {
        const action = program.readOrder?.(instruction)
        if (action) orderActions.push({ top: tree.top[at]!, program, action })
      }
    }
  }

  const orders = orderActions.length === 0 ? NO_ORDERS : readOrders(orderActions, named)
  const movements = new Movements({
    tx,
    wallets,
    named,
    orders,
    instructions: assetInstructions,
    credits,
  })
  const swapCalls = entries.filter((call) => isSwapCall(call, movements, tree))
  const labelAt = (at: number) => registry.labelOf(accountKeys[instructions[at]!.programIndex]!)
  return { tx, named, tree, programs, labelAt, orders, movements, swapCalls }
}

/** A call of an entry point that may be a swap. */
interface EntryCall extends SwapCall {
  readonly isSwap: ReturnType<EntryPoints>
}

function isSwapCall({ at, isSwap }: EntryCall, movements: Movements, tree: InstructionTree) {
  const first = isSwap === 'two_mints_around' ? tree.top[at]! : at
  return isSwap === true || movesTwoMints(movements, first, tree.end[first]!)
}

/** Looks up each program of a transaction once. */
function knownPrograms(
  { instructions, accountKeys }: Transaction,
  registry: ProgramRegistry,
): (KnownProgram | null)[] {
  const seen: (KnownProgram | null)[] = []
  return instructions.map(({ programIndex }) => {
    const program = seen[programIndex]
    if (program !== undefined) return program
    const found = registry.programOf(accountKeys[programIndex]!)
    seen[programIndex] = found
    return found
  })
}

/**
 * Whether instructions from index `first` up to, but not including, `end` moved two mints. SOL and
 * WSOL count as one.
 */
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

/**
 * Whether the transaction may have moved any tokens or SOL, that is, whether it calls a token
 * program or the System program. Votes and oracle updates do not, so the decoder skips them.
 */
export function mayMoveAssets(
  { instructions, accountKeys }: Transaction,
  registry: ProgramRegistry,
): boolean {
  let last = -1
  for (const { programIndex } of instructions) {
    if (programIndex === last) continue
    last = programIndex
    const kind = registry.programOf(accountKeys[programIndex]!)?.kind
    if (kind === 'system' || kind === 'token') return true
  }
  return false
}
