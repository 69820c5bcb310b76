import { QUOTES, SOL } from './mint-table.ts'
import type { Move } from './move.ts'
import type { TransactionFacts } from './transaction-facts.ts'

/** Signed raw amounts by mint number; above zero is incoming. */
export type Flows = bigint[]

/** A range of instruction indexes: `first` inclusive, `end` exclusive. */
export interface InstructionRange {
  readonly first: number
  readonly end: number
}

/** Whether a move is a flow. Rent and tips are not (rule B3). */
function isFlow(move: Move): boolean {
  return move.kind !== 'rent' && move.kind !== 'tip'
}

/** Net flows of a wallet by mint, within a range of instructions (rule B5). */
export function netFlows(
  facts: TransactionFacts,
  wallet: number,
  { first, end }: InstructionRange,
): Flows {
  const flows: Flows = new Array(facts.movements.mints.addresses.length).fill(0n)
  for (const move of facts.movements.moves) {
    if (move.at < first) continue
    if (move.at >= end) break
    if (move.from !== wallet && move.to !== wallet) continue
    if (!isFlow(move)) continue
    let flow = flows[move.mint]!
    if (move.from === wallet) flow -= move.sent
    if (move.to === wallet) flow += move.received
    flows[move.mint] = flow
  }
  return flows
}

/**
 * For each quote coin, the amount that entered pass-through accounts within the range, which is
 * what the selling hops of a route paid (rule B7). A pass-through account receives the coin before
 * it sends it on. The system account and the WSOL accounts of the wallet are one account.
 */
export function passedThrough(
  facts: TransactionFacts,
  wallet: number,
  { first, end }: InstructionRange,
): bigint[] {
  const moves = facts.movements.moves.filter(
    (move) => move.at >= first && move.at < end && move.mint < QUOTES && isFlow(move),
  )
  return Array.from({ length: QUOTES }, (_, quote) => {
    const ofQuote = moves.filter((move) => move.mint === quote)
    const received = new Set<number>()
    const through = new Set<number>()
    for (const move of ofQuote) {
      const [source, destination] = ends(move, wallet)
      if (source === destination) continue
      if (received.has(source)) through.add(source)
      received.add(destination)
    }
    let sum = 0n
    for (const move of ofQuote) {
      const [source, destination] = ends(move, wallet)
      if (through.has(destination) && !through.has(source)) sum += move.received
    }
    return sum
  })
}

const OWN_SOL = -2

function ends(move: Move, wallet: number): [number, number] {
  if (move.mint !== SOL) return [move.source, move.destination]
  return [
    move.from === wallet ? OWN_SOL : move.source,
    move.to === wallet ? OWN_SOL : move.destination,
  ]
}

/**
 * Worth of an amount of a quote coin in USD x 10^9, for ranking only: 1 SOL counts as 150 USD (rule
 * B6).
 */
export function quoteRank(quote: number, amount: bigint): bigint {
  return quote === SOL ? amount * 150n : amount * 1_000n
}
