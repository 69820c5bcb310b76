import type { Confidence, Side } from '../../../pipeline/domain/event.ts'
import type { Key } from './key.ts'
import type { Mint } from './transaction-builder.ts'

/**
 * What a transaction is meant to do for one tracked wallet. The maker of the transaction writes it
 * down; it is never read back from the transaction. Wallets are numbers, amounts raw units.
 * Quantities and names follow rules B5 to B13a.
 */
export type Intent =
  | {
      readonly kind: 'swap'
      readonly wallet: number
      readonly side: Side
      readonly mint: Mint
      readonly baseAmount: bigint
      /** Null when no quote was exchanged. */
      readonly quote: Mint | null
      readonly quoteAmount: bigint
      readonly program: string
      readonly programId: Key
      /** The coin's pool; null when the swap uses none. */
      readonly pool: Key | null
      readonly confidence: Confidence
      readonly feeLamports: bigint
    }
  | {
      readonly kind: 'token_transfer'
      readonly wallet: number
      readonly direction: 'in' | 'out'
      readonly mint: Mint
      readonly amount: bigint
    }
  | {
      readonly kind: 'sol_transfer'
      readonly wallet: number
      readonly direction: 'in' | 'out'
      readonly lamports: bigint
    }

/**
 * A wallet's intents in the order of its events: transfers in by mint, swaps, transfers out by
 * mint, SOL in, SOL out (rules of section A).
 */
export function inEventOrder(intents: readonly Intent[]): Intent[] {
  return intents.toSorted(
    (a, b) => rank(a) - rank(b) || compareText(mintOf(a), mintOf(b)), // the sort is stable
  )
}

function rank(intent: Intent): number {
  if (intent.kind === 'swap') return 1
  const offset = intent.direction === 'in' ? 0 : 1
  return intent.kind === 'token_transfer' ? offset * 2 : 3 + offset
}

function mintOf(intent: Intent): string {
  return intent.kind === 'token_transfer' ? intent.mint.key.address : ''
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
