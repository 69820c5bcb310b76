import type { WalletEvent } from '../domain/event.ts'
import { type Perturb, perturbAmount } from '../domain/perturbation.ts'
import { swapValueLamports } from '../domain/swap-value.ts'

/** Kinds of effect that an event has on the state of its wallet. */
export type FoldKind = 'buy' | 'sell' | 'token_in' | 'token_out' | 'sol_in' | 'sol_out'

/**
 * The fields of an event that the fold needs, one shape for all kinds. Events from the log and from
 * the event tables give the same.
 */
export interface FoldEvent {
  readonly slot: number
  readonly txIndex: number
  readonly eventIndex: number
  /** Unix seconds of the block. */
  readonly blockTime: number
  readonly kind: FoldKind
  /** Mint of the token; empty for SOL. */
  readonly mint: string
  readonly decimals: number
  /** Raw token units, or lamports for SOL. */
  readonly amount: bigint
  /** Value of a swap in lamports (rule C1); null if it has none, and for transfers. */
  readonly value: bigint | null
  /**
   * USD x 10^9 for one SOL at the time of a swap (rule C15); null if unknown, and for transfers.
   */
  readonly solPriceUsdE9: bigint | null
}

/** Returns the fields of an event that the fold needs. */
export function toFoldEvent(event: WalletEvent): FoldEvent {
  const { slot, txIndex, eventIndex, blockTime } = event
  switch (event.kind) {
    case 'swap':
      return {
        slot,
        txIndex,
        eventIndex,
        blockTime,
        kind: event.side,
        mint: event.baseMint,
        decimals: event.baseDecimals,
        amount: event.baseAmount,
        value: swapValueLamports(event),
        solPriceUsdE9: event.solPriceUsdE9,
      }
    case 'token_transfer':
      return {
        slot,
        txIndex,
        eventIndex,
        blockTime,
        kind: event.direction === 'in' ? 'token_in' : 'token_out',
        mint: event.mint,
        decimals: event.decimals,
        amount: event.amount,
        value: null,
        solPriceUsdE9: null,
      }
    case 'sol_transfer':
      return {
        slot,
        txIndex,
        eventIndex,
        blockTime,
        kind: event.direction === 'in' ? 'sol_in' : 'sol_out',
        mint: '',
        decimals: 9,
        amount: event.lamports,
        value: null,
        solPriceUsdE9: null,
      }
  }
}

/** Returns a swap of a wallet in the form in which it is served (rule I2). */
export function serveFoldEvent(
  wallet: number,
  event: FoldEvent,
  perturb: Perturb | null,
): FoldEvent {
  if (perturb === null) return event
  const { slot, txIndex, eventIndex, blockTime, kind, mint, decimals } = event
  const perturbation = perturb({ slot, txIndex, wallet, eventIndex })
  return {
    slot,
    txIndex,
    eventIndex,
    blockTime: blockTime - perturbation.earlierSeconds,
    kind,
    mint,
    decimals,
    amount: perturbAmount(event.amount, perturbation),
    value: event.value === null ? null : perturbAmount(event.value, perturbation),
    solPriceUsdE9: event.solPriceUsdE9,
  }
}

/** How a wallet is folded: with its transfers (`raw`), or its swaps alone (`strict`, rule L6). */
export const FOLD_MODES = ['raw', 'strict'] as const
export type FoldMode = (typeof FOLD_MODES)[number]

/**
 * Returns an event as a mode folds it for customers: a swap in its served form (rule L13), a token
 * transfer as it was. Null for an event that the mode leaves out, and for transfers of SOL.
 */
export function eventOfMode(
  wallet: number,
  event: FoldEvent,
  mode: FoldMode,
  perturb: Perturb | null,
): FoldEvent | null {
  switch (event.kind) {
    case 'buy':
    case 'sell':
      return serveFoldEvent(wallet, event, perturb)
    case 'token_in':
    case 'token_out':
      return mode === 'raw' ? event : null
    case 'sol_in':
    case 'sol_out':
      return null
  }
}
