import type { InstructionRange } from './net-flows.ts'
import type { Program } from './program.ts'
import { movesTwoMints, type SwapCall, type TransactionFacts } from './transaction-facts.ts'

/**
 * The instructions of one swap of a wallet: a top-level instruction with its inner instructions or,
 * for the owner of an order, the top-level instructions that fill the order.
 */
export interface SwapSpan extends InstructionRange {
  /** The order program when the span is a fill (rule B2a), else null. */
  readonly fill: Program | null
}

/**
 * Returns the swap spans of a transaction for one wallet, in order and without overlap (rules B2a,
 * B4).
 */
export function findSwapSpans(facts: TransactionFacts, wallet: number): SwapSpan[] {
  const { tree } = facts
  const spans: { first: number; end: number; fill: Program | null }[] = []
  for (const { owner, program, first, last } of facts.orders.fills) {
    if (owner !== wallet) continue
    const before = spans.at(-1)
    const end = tree.end[last]!
    if (before !== undefined && first < before.end) before.end = Math.max(before.end, end)
    else spans.push({ first, end, fill: program })
  }
  const fills = spans.length
  let newest = -1
  for (const { at } of facts.swapCalls) {
    const first = tree.top[at]!
    if (first === newest) continue
    newest = first
    let within = false
    for (let i = 0; i < fills; i++) within ||= first >= spans[i]!.first && first < spans[i]!.end
    if (!within) spans.push({ first, end: tree.end[first]!, fill: null })
  }
  return fills === 0 ? spans : spans.sort((a, b) => a.first - b.first)
}

/** Name of the program of a swap of `mint` by `wallet` within a span (rules B11, B11a). */
export function programName(
  facts: TransactionFacts,
  span: SwapSpan,
  wallet: number,
  mint: number,
): string {
  if (span.fill !== null) return 'jupiter'
  const calls = facts.swapCalls.filter(({ at }) => at >= span.first && at < span.end)
  const venues = calls.filter(({ program }) => program.kind === 'venue')
  const router = calls.find(({ program }) => program.kind === 'router')
  if (router !== undefined) {
    const names = routedNames(facts, calls)
    return names?.size === 1 ? [...names][0]! : router.program.name
  }
  const mover = venues.find(({ at }) => {
    const end = facts.tree.end[at]!
    return facts.movements.moves.some(
      (move) =>
        move.at >= at &&
        move.at < end &&
        move.mint === mint &&
        (move.from === wallet || move.to === wallet),
    )
  })
  return (mover ?? venues[0])?.program.name ?? 'unknown'
}

/**
 * Names of the venues behind the routers among `calls`: venues that were called, and labelled
 * programs that a router called directly and that moved two mints. Null when such a program has
 * neither an entry point nor a label: a venue missing from the table.
 */
function routedNames(facts: TransactionFacts, calls: readonly SwapCall[]): Set<string> | null {
  const { tree, movements } = facts
  const { instructions } = facts.tx
  const names = new Set<string>()
  for (const { program } of calls) if (program.kind === 'venue') names.add(program.name)
  for (const { at, program } of calls) {
    if (program.kind !== 'router') continue
    const router = instructions[at]!
    for (let callee = at + 1; callee < tree.end[at]!; callee = tree.end[callee]!) {
      if (instructions[callee]!.programIndex === router.programIndex) continue
      if (calls.some((call) => call.at === callee)) continue
      const label = facts.labelAt(callee)
      if (label === null && facts.programs[callee] !== null) continue
      if (!movesTwoMints(movements, callee, tree.end[callee]!)) continue
      if (label === null) return null
      names.add(label)
    }
  }
  return names
}

/**
 * Name of the first labelled program, in order of execution, whose call tree moved the mint (rule
 * B11a); null when there is none.
 */
export function labelOfMover({ tx, tree, movements, labelAt }: TransactionFacts, mint: number) {
  for (let at = 0; at < tx.instructions.length; at++) {
    const label = labelAt(at)
    if (label === null) continue
    const end = tree.end[at]!
    if (movements.moves.some((move) => move.mint === mint && move.at >= at && move.at < end))
      return label
  }
  return null
}
