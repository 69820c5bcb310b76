import { MOST_EARLIER_SECONDS } from '../domain/perturbation.ts'
import { addNewest, openLots } from './fifo.ts'
import { eventOfMode, type FoldEvent } from './fold-event.ts'
import { foldEvent } from './fold-wallet.ts'
import type { FoldAs } from './wallet-positions.ts'
import {
  createWalletState,
  type TokenState,
  takeChanges,
  type WalletState,
} from './wallet-state.ts'

/** What the events of a wallet at or before a time add up to (rule L8). Lamports, raw units. */
export interface ProfitCut {
  /** Unix seconds. */
  readonly time: number
  readonly realized: bigint
  /** Cost of all open lots. */
  readonly openCost: bigint
  /** Values of all swaps. */
  readonly traded: bigint
  /** Positions that may differ from those of the previous cut; closed ones have amount 0. */
  readonly changed: readonly OpenPosition[]
}

/** What the open lots of a token hold. Raw units, lamports. */
export interface OpenPosition {
  readonly mint: string
  readonly amount: bigint
  readonly cost: bigint
}

/**
 * Folds the events of a wallet, in event-key order, and tells what they add up to at some times.
 *
 * Block times never go back along the chain. With a salt the time of a swap is its served one, by
 * up to 16 s before the true one, so an event may count at a time and an earlier one not. The
 * events that far after a time are therefore folded into a copy, without those that do not count
 * yet.
 */
export class ProfitFold {
  readonly #as: FoldAs
  readonly #times: readonly number[]
  readonly #state: WalletState
  /** Events after those of the state, as the mode folds them, with their true block times. */
  readonly #waiting: { readonly trueTime: number; readonly event: FoldEvent }[] = []
  /** Tokens whose position may differ from that of the previous cut. */
  readonly #touched = new Set<string>()
  /** Tokens that were open at the previous cut. */
  readonly #open = new Set<string>()
  #next = 0

  /** `times`: ascending. */
  constructor(as: FoldAs, times: readonly number[]) {
    this.#as = as
    this.#times = times
    this.#state = createWalletState(as.wallet)
  }

  /** Takes the next event. Returns the cuts that it and all later events come after. */
  add(event: FoldEvent): ProfitCut[] {
    const { wallet, mode, perturb } = this.#as
    const cuts = this.#cutBefore(event.blockTime - (perturb ? MOST_EARLIER_SECONDS : 0))
    if (this.#next === this.#times.length) return cuts
    const counted = eventOfMode(wallet, event, mode, perturb)
    if (counted !== null) this.#waiting.push({ trueTime: event.blockTime, event: counted })
    this.#settle()
    return cuts
  }

  /** Returns the remaining cuts, after the last event. */
  end(): ProfitCut[] {
    return this.#cutBefore(Number.POSITIVE_INFINITY)
  }

  /** Makes the cuts at times before `time`. */
  #cutBefore(time: number): ProfitCut[] {
    const cuts: ProfitCut[] = []
    for (let at = this.#times[this.#next]; at !== undefined && at < time; ) {
      cuts.push(this.#cutAt(at))
      this.#next += 1
      at = this.#times[this.#next]
      this.#settle()
    }
    return cuts
  }

  /** Folds the events that count at the next time and at all later ones. */
  #settle(): void {
    const time = this.#times[this.#next] ?? -1
    for (let first = this.#waiting[0]; first && first.trueTime <= time; first = this.#waiting[0]) {
      this.#waiting.shift()
      foldEvent(this.#state, first.event)
      takeChanges(this.#state)
      this.#touched.add(first.event.mint)
    }
  }

  #cutAt(time: number): ProfitCut {
    const near = this.#waiting.flatMap(({ event }) => (event.blockTime <= time ? [event] : []))
    const state = near.length === 0 ? this.#state : copyFor(this.#state, near)
    for (const event of near) {
      foldEvent(state, event)
      this.#touched.add(event.mint)
    }
    const changed: OpenPosition[] = []
    for (const mint of this.#touched) {
      const token = state.tokens.get(mint) ?? this.#state.tokens.get(mint)
      const { openAmount: amount = 0n, openCost: cost = 0n } = token ?? {}
      if (amount > 0n) this.#open.add(mint)
      else if (!this.#open.delete(mint)) continue
      changed.push({ mint, amount, cost })
    }
    this.#touched.clear()
    for (const { mint } of near) this.#touched.add(mint) // the next cut may count others of them
    return {
      time,
      realized: state.pnl,
      openCost: state.investedOpen,
      traded: state.boughtLamports + state.soldLamports,
      changed,
    }
  }
}

/** Copies of a state and of its tokens that these events change. The other tokens are left out. */
function copyFor(state: WalletState, events: readonly FoldEvent[]): WalletState {
  const tokens = new Map<string, TokenState>()
  for (const { mint } of events) {
    const token = state.tokens.get(mint)
    if (token === undefined || tokens.has(mint)) continue
    const copy = { ...token, oldest: null, newest: null }
    for (const lot of openLots(token)) addNewest(copy, { ...lot, next: null })
    tokens.set(mint, copy)
  }
  return {
    ...state,
    tokens,
    hours: [...state.hours],
    changes: createWalletState(state.wallet).changes,
  }
}
