import type { InstructionRange } from './net-flows.ts'
import type { Program } from './program.ts'
import type { TransactionFacts } from './transaction-facts.ts'
import { movesTwoMints } from './transaction-facts.ts'

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

/** Name of the program of a swap of `mint` by `wallet` within a span (rule B11). */
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
  const names = new Set(venues.map(({ program }) => program.name))
  if (router !== undefined) {
    if (names.size === 1 && !routesElsewhere(facts, span)) return venues[0]!.program.name
    return router.program.name
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
 * Whether a router within the span directly called an unknown program that moved two mints. Such a
 * program is a venue missing from the table.
 */
function routesElsewhere(facts: TransactionFacts, span: SwapSpan): boolean {
  const { tree, swapCalls } = facts
  const { instructions } = facts.tx
  return swapCalls.some(({ at, program }) => {
    if (program.kind !== 'router' || at < span.first || at >= span.end) return false
    const router = instructions[at]!
    for (let callee = at + 1; callee < tree.end[at]!; callee = tree.end[callee]!) {
      if (instructions[callee]!.programIndex === router.programIndex) continue
      if (facts.programs[callee] !== null) continue
      if (movesTwoMints(facts.movements, callee, tree.end[callee]!)) return true
    }
    return false
  })
}
