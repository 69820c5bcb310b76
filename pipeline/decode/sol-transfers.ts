import { withoutNfts } from './balance-changes.ts'
import { type FlowSwap, isQuoteConversion } from './classify-flows.ts'
import { SOL } from './mint-table.ts'
import { type InstructionRange, netFlows } from './net-flows.ts'
import { mayTrade } from './traded-programs.ts'
import type { TransactionFacts } from './transaction-facts.ts'

/** SOL that a wallet sent and received outside its swaps, in lamports. */
export interface SolTransfers {
  readonly received: bigint
  readonly sent: bigint
  /** Lamports that flowed onto accounts that the transaction created and do not count as sent. */
  readonly ontoCreated: bigint
}

/**
 * Rent of 10,240 bytes, the most that one call can allocate. Up to this amount, SOL put on a
 * created account counts as its rent.
 */
const LARGEST_RENT = 72_161_280n

/**
 * Sums the SOL moved by System transfers, and the WSOL moved by token transfers, outside the given
 * ranges, between the wallet and accounts that are not its own (rule B13). Tips, rent, credits and
 * the rent of accounts that the transaction created are left out.
 */
export function sumSolTransfers(
  facts: TransactionFacts,
  wallet: number,
  ranges: readonly InstructionRange[],
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

/**
 * Top-level instructions outside the spans that exchanged one quote coin of the wallet for another
 * (rule B8).
 */
export function findConversions(
  facts: TransactionFacts,
  wallet: number,
  spans: readonly InstructionRange[],
): InstructionRange[] {
  const found: InstructionRange[] = []
  if (!facts.movements.dollarsMoved) return found
  for (const first of facts.tree.tops) {
    if (!mayTrade(facts.programs[first]!)) continue
    if (spans.some((span) => first >= span.first && first < span.end)) continue
    const range = { first, end: facts.tree.end[first]! }
    if (isQuoteConversion(withoutNfts(facts, netFlows(facts, wallet, range)))) found.push(range)
  }
  return found
}

/**
 * Whether the SOL that a wallet sent outside its swaps is the fee of a terminal or bot: at most 5%
 * of the SOL of those swaps, where a token-for-token pair counts once (rule B13a). Each element of
 * `spans` holds the swaps of one swap instruction.
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
