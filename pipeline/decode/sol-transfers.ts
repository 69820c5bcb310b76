import { withoutNfts } from './balance-changes.ts'
import type { Facts } from './facts.ts'
import { SOL } from './mint-table.ts'
import { netFlows, type Range } from './net-flows.ts'
import { type FlowSwap, isConversion } from './swaps-of-flows.ts'
import { isAccepted } from './traded-programs.ts'

/** SOL that a wallet sent and received outside of its swaps, in lamports. */
export interface SolTransfers {
  readonly received: bigint
  readonly sent: bigint
  /** Lamports that went out as flows onto accounts that the transaction created, less what of them counts as sent. */
  readonly ontoCreated: bigint
}

/** Rent of 10,240 bytes, as many as one call can allocate: what is put on a created account up to here is taken for its rent. */
const LARGEST_RENT = 72_161_280n

/**
 * SOL moved by System transfers, and WSOL by token transfers, outside the given ranges, between the wallet and accounts that are not its own
 * (rule B13). Not among them: tips, rent, what was put on accounts that the transaction created (up to their largest rent), credits.
 */
export function solTransfersOutside(
  facts: Facts,
  wallet: number,
  ranges: readonly Range[],
): SolTransfers {
  let received = 0n
  let sent = 0n
  let ontoCreated = 0n
  const onCreated = new Map<number, bigint>()
  for (const move of facts.movements.moves) {
    if (move.mint !== SOL || move.from === move.to) continue
    if (move.from !== wallet && move.to !== wallet) continue
    if (move.kind === 'tip' || move.kind === 'credit') continue
    if (move.kind === 'rent' && !move.ontoCreated) continue
    if (ranges.some(({ first, end }) => move.at >= first && move.at < end)) continue
    if (move.to === wallet) {
      if (move.kind !== 'rent') received += move.received
    } else if (move.ontoCreated) {
      onCreated.set(move.destination, (onCreated.get(move.destination) ?? 0n) + move.sent)
      if (move.kind !== 'rent') ontoCreated += move.sent
    } else {
      sent += move.sent
    }
  }
  for (const lamports of onCreated.values()) {
    if (lamports <= LARGEST_RENT) continue
    sent += lamports - LARGEST_RENT
    ontoCreated -= lamports - LARGEST_RENT
  }
  return { received, sent, ontoCreated }
}

/** Top-level instructions that are no swaps but exchanged one quote coin of the wallet for another (rule B8). */
export function conversions(facts: Facts, wallet: number, spans: readonly Range[]): Range[] {
  const found: Range[] = []
  if (!facts.movements.dollarsMoved) return found
  for (const first of facts.tree.tops) {
    if (!isAccepted(facts.programs[first]!)) continue
    if (spans.some((span) => first >= span.first && first < span.end)) continue
    const range = { first, end: facts.tree.end[first]! }
    if (isConversion(withoutNfts(facts, netFlows(facts, wallet, range)))) found.push(range)
  }
  return found
}

/**
 * Whether what a wallet sent beside its swaps is the fee of a terminal or bot: at most 5% of the SOL of those swaps, a token-for-token pair counted
 * once (rule B13a). `spans` holds the swaps of one swap instruction each.
 */
export function isTerminalFee(sent: bigint, spans: readonly (readonly FlowSwap[])[]): boolean {
  let swapped = 0n
  for (const swaps of spans) {
    // The two swaps of a token-for-token pair carry the same quote.
    const quote = swaps[0]?.quote
    if (quote?.mint === SOL) swapped += quote.amount
  }
  return sent > 0n && swapped > 0n && sent * 20n <= swapped
}
