import type { WalletEvent } from '../../../pipeline/domain/event.ts'

/** The fields of an event that depend on its transaction's place in the chain. */
type Place = 'slot' | 'txIndex' | 'eventIndex' | 'blockTime' | 'signature'
type WithoutPlace<E> = E extends WalletEvent ? Omit<E, Place> : never

/**
 * The intended effect of a transaction on one wallet: an event without its place. It is recorded
 * when the transaction is created, never decoded from it. Wallet 0 is an untracked wallet.
 * Quantities and names follow rules B5 to B13a.
 */
export type Intent = WithoutPlace<WalletEvent>

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
  return intent.kind === 'token_transfer' ? intent.mint : ''
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
