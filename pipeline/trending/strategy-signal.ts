import { createHash } from 'node:crypto'
import { type Fraction, nearestTo } from '../domain/fraction.ts'
import { canHoldByTimeAlone, evaluate, type Reason, type Strategy } from './strategy.ts'
import type { ExactToken, Listing, WatchlistTick } from './watched-token.ts'

/**
 * A strategy that fired for a token: the record of rule G5 as of that tick. SOL figures in
 * lamports, the market cap in USD.
 */
export interface Signal extends SignalKey {
  /** Derived from strategy, mint and entry, so it is the same in every run. */
  readonly id: string
  readonly symbol: string
  readonly name: string
  /** Unix seconds of the tick. */
  readonly firedAt: number
  readonly conviction: number
  readonly walletsHolding: number
  /** Alias numbers of the holders, ascending. */
  readonly wallets: readonly number[]
  /** Exact; null if unknown. */
  readonly triggerMcap: Fraction | null
  readonly heldLamports: bigint
  readonly buyLamports: bigint
  readonly sellLamports: bigint
  /** In the order of the strategy's conditions. */
  readonly reasons: readonly Reason[]
}

/** Identifies a signal: a strategy fires once for each listing of a token. */
export interface SignalKey extends Listing {
  readonly strategy: string
}

/**
 * Records which strategies fired for which listing of a token, and finds those that fire at the
 * next tick.
 */
export class SignalDetector {
  readonly #fired = new Map<string, Map<number, Set<string>>>()
  /** The strategies that were checked last, and the tick of the check. */
  #strategies: readonly Strategy[] = []
  #lookedAt = Number.NEGATIVE_INFINITY

  /**
   * Returns the signals of a tick, by mint, then strategy: one for each strategy and listed token
   * of which all conditions hold and that has not fired.
   *
   * Marks nothing as fired: call `add` once the signals are stored. A token that was not
   * computed since the previous tick is checked only with strategies that can come to hold by time
   * alone.
   */
  detect(
    strategies: readonly Strategy[],
    { at, listed }: Pick<WatchlistTick, 'at' | 'listed'>,
  ): readonly Signal[] {
    const signals: Signal[] = []
    const growing = strategies.filter(canHoldByTimeAlone)
    const isNext = strategies === this.#strategies && at > this.#lookedAt
    const lookedAt = isNext ? this.#lookedAt : Number.NEGATIVE_INFINITY
    for (const token of listed) {
      const due = token.at > lookedAt ? strategies : growing
      if (due.length === 0) continue
      const fired = this.#fired.get(token.mint)?.get(token.enteredAt)
      for (const strategy of due) {
        if (fired?.has(strategy.name)) continue
        const reasons = evaluate(strategy, token, at)
        if (reasons !== null) signals.push(signalOf(strategy, token, at, reasons))
      }
    }
    this.#strategies = strategies
    this.#lookedAt = at
    return signals.sort((a, b) => order(a.mint, b.mint) || order(a.strategy, b.strategy))
  }

  /** Marks signals as fired. */
  add(firings: Iterable<SignalKey>): void {
    for (const { strategy, mint, entry } of firings) {
      const entries = this.#fired.get(mint) ?? new Map<number, Set<string>>()
      this.#fired.set(mint, entries)
      entries.set(entry, (entries.get(entry) ?? new Set<string>()).add(strategy))
    }
  }

  /** Drops listings that have ended; they cannot come again. */
  forget(left: Iterable<Listing>): void {
    for (const { mint, entry } of left) {
      const entries = this.#fired.get(mint)
      entries?.delete(entry)
      if (entries?.size === 0) this.#fired.delete(mint)
    }
  }
}

function signalOf(
  strategy: Strategy,
  token: ExactToken,
  at: number,
  reasons: readonly Reason[],
): Signal {
  const firing = { strategy: strategy.name, mint: token.mint, entry: token.enteredAt }
  return {
    id: idOf(firing),
    ...firing,
    symbol: token.symbol,
    name: token.name,
    firedAt: at,
    conviction: nearestTo(token.conviction),
    walletsHolding: token.walletsHolding,
    wallets: token.wallets,
    triggerMcap: token.currentMcap,
    heldLamports: token.heldLamports,
    buyLamports: token.buyLamports,
    sellLamports: token.sellLamports,
    reasons,
  }
}

/** 32 hex digits. */
function idOf({ strategy, mint, entry }: SignalKey): string {
  return createHash('sha256').update(`${strategy} ${mint} ${entry}`).digest('hex').slice(0, 32)
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
