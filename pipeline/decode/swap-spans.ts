import type { Facts } from './facts.ts'
import { movesTwoMints } from './facts.ts'
import type { Range } from './net-flows.ts'
import type { Program } from './program.ts'

/** One swap instruction as a wallet sees it: a top-level instruction with its calls, or, for the owner of an order, the stretch that fills it. */
export interface SwapSpan extends Range {
  /** The order program whose fill this is (rule B2a). */
  readonly fill: Program | null
}

/** The swap instructions of a transaction for one wallet, in order; they do not overlap (rules B2a, B4). */
export function swapSpans(facts: Facts, wallet: number): SwapSpan[] {
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
export function programName(facts: Facts, span: SwapSpan, wallet: number, mint: number): string {
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

/** Whether a router of the span called a venue that is not in the table: a direct callee, of no known program, that moved two mints. */
function routesElsewhere(facts: Facts, span: SwapSpan): boolean {
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
