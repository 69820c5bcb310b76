import type { Perturb } from '../domain/perturbation.ts'
import { eventOfMode, type FoldEvent, type FoldMode } from './fold-event.ts'
import { foldEvent } from './fold-wallet.ts'
import {
  createWalletState,
  takeChanges,
  type WalletPlace,
  type WalletState,
} from './wallet-state.ts'

/** How a wallet is folded for customers. */
export interface FoldAs {
  readonly wallet: number
  readonly mode: FoldMode
  /** The privacy filter (rule I2); null folds swaps unchanged. */
  readonly perturb: Perturb | null
}

/** A wallet's position in one token (rule L7). Raw units, lamports, unix seconds. */
export interface WalletPosition {
  readonly mint: string
  readonly decimals: number
  /** Amount and cost of the open lots; the position is open while the amount is above 0. */
  readonly amount: bigint
  readonly cost: bigint
  readonly realized: bigint
  readonly boughtLamports: bigint
  readonly soldLamports: bigint
  readonly buys: number
  readonly sells: number
  /** Times of the first and the last swap in event-key order; null for transfers alone. */
  readonly firstTradeTime: number | null
  readonly lastTradeTime: number | null
  /** Place of the last event of the token. */
  readonly last: WalletPlace
}

/** Folds the events of a wallet, in event-key order, into its positions. */
export class PositionsFold {
  readonly #as: FoldAs
  readonly #state: WalletState
  /** The last event of each token, the newest one last. */
  readonly #last = new Map<string, WalletPlace>()

  constructor(as: FoldAs) {
    this.#as = as
    this.#state = createWalletState(as.wallet)
  }

  /** Folds the next event, unless the mode leaves it out. */
  add(event: FoldEvent): void {
    const { wallet, mode, perturb } = this.#as
    const counted = eventOfMode(wallet, event, mode, perturb)
    if (counted === null) return
    foldEvent(this.#state, counted)
    takeChanges(this.#state)
    this.#last.delete(event.mint)
    this.#last.set(event.mint, event)
  }

  /** Returns one position for each token with an event, the token with the newest event first. */
  positions(): WalletPosition[] {
    const positions: WalletPosition[] = []
    for (const [mint, { slot, txIndex, eventIndex }] of this.#last) {
      const token = this.#state.tokens.get(mint)
      if (token === undefined) continue // never: it has an event
      positions.push({
        mint: token.mint,
        decimals: token.decimals,
        amount: token.openAmount,
        cost: token.openCost,
        realized: token.realized,
        boughtLamports: token.boughtLamports,
        soldLamports: token.soldLamports,
        buys: token.buys,
        sells: token.sells,
        firstTradeTime: token.firstTradeTime,
        lastTradeTime: token.lastTradeTime,
        last: { slot, txIndex, eventIndex },
      })
    }
    return positions.reverse()
  }
}
