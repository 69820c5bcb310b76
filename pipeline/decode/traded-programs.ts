import type { KnownProgram } from './registry.ts'
import type { TransactionFacts } from './transaction-facts.ts'

/**
 * Whether a top-level instruction of this program may be a trade (rule B10). False for
 * infrastructure programs, lending and the like.
 */
export function mayTrade(program: KnownProgram | null): boolean {
  if (program === null) return true
  return program.kind === 'venue' || program.kind === 'router' || program.kind === 'order'
}

/** Whether any top-level instruction calls a program that rule B10 accepts. */
export function callsTradedProgram(facts: TransactionFacts): boolean {
  return facts.tree.tops.some((index) => mayTrade(facts.programs[index]!))
}
