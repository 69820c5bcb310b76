import { mayTrade } from './traded-programs.ts'
import type { TransactionFacts } from './transaction-facts.ts'

/** Why a transaction cannot be decoded (rule K7). */
export type UndecodedReason =
  /** The node kept no inner instructions, though a called program may have moved something. */
  | 'no_inner_instructions'
  /** Tokens moved, and the node kept no token balances. */
  | 'no_token_balances'
  /** Tokens moved between accounts whose mint neither balances nor instructions name. */
  | 'unknown_mint'

/** Why a transaction cannot be decoded, and the program at fault. */
export interface UndecodedCause {
  readonly reason: UndecodedReason
  /** Account index of the program at fault; null when no program is. */
  readonly program: number | null
}

/** Returns why a transaction cannot be decoded; null for nearly all. */
export function findUndecodedCause(facts: TransactionFacts): UndecodedCause | null {
  const { tx, tree } = facts
  if (!tx.innerKept) {
    const caller = tree.tops.find((index) => mayTrade(facts.programs[index]!))
    if (caller !== undefined) {
      return { reason: 'no_inner_instructions', program: tx.instructions[caller]!.programIndex }
    }
  }
  const { moves, unreadable } = facts.movements
  if (tx.preTokenBalances.length + tx.postTokenBalances.length === 0) {
    if (unreadable > 0 || moves.some(({ kind }) => kind === 'token')) {
      return { reason: 'no_token_balances', program: null }
    }
  }
  if (unreadable > 0) return { reason: 'unknown_mint', program: null }
  return null
}
