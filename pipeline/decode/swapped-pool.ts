import { type Address, addressFromBytes } from '../domain/address.ts'
import type { InstructionRange } from './net-flows.ts'
import type { TransactionFacts } from './transaction-facts.ts'

/**
 * Returns the pool, bonding curve or pair account of a swap; null when none is known.
 *
 * Among the venue calls within the range that moved the base from or to the wallet, the first whose
 * program tells its pool decides. Where a router kept the base in between, it is the first call
 * that moved the base at all.
 */
export function findSwappedPool(
  { tx, tree, swapCalls, movements }: TransactionFacts,
  wallet: number,
  mint: number,
  range: InstructionRange,
): Address | null {
  let routed: number | null = null
  for (const { at, program } of swapCalls) {
    if (program.poolOf === undefined || at < range.first || at >= range.end) continue
    const end = tree.end[at]!
    for (const move of movements.moves) {
      if (move.at >= end) break
      if (move.at < at || move.mint !== mint) continue
      const isOwn = move.from === wallet || move.to === wallet
      if (!isOwn && routed !== null) continue
      const pool = program.poolOf(tx.instructions[at]!, move)
      if (pool === null) continue
      if (isOwn) return addressFromBytes(tx.accountKeys[pool]!)
      routed = pool
    }
  }
  return routed === null ? null : addressFromBytes(tx.accountKeys[routed]!)
}
