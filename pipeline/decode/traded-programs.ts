import type { Facts } from './facts.ts'
import type { KnownProgram } from './registry.ts'

/** Whether balance changes of a top-level instruction of this program may be a trade (rule B10): not the chain's plumbing, not lending and the like. */
export function isAccepted(program: KnownProgram | null): boolean {
  if (program === null) return true
  return program.kind === 'venue' || program.kind === 'router' || program.kind === 'order'
}

/** Whether some top-level instruction calls a program that rule B10 accepts. */
export function callsAccepted(facts: Facts): boolean {
  return facts.tree.tops.some((place) => isAccepted(facts.programs[place]!))
}
