import { createHash } from 'node:crypto'
import { evaluate, growsInto, type Reason, type Strategy } from './strategy.ts'
import type { Stay, WatchedToken, WatchlistTick } from './watched-token.ts'

/** A strategy that fired for a token: the record of rule G5 as of that tick. SOL figures in lamports, the market cap in USD. */
export interface Signal extends Firing {
  /** Follows from strategy, mint and entry: the same in every run. */
  readonly id: string
  readonly symbol: string
  readonly name: string
  /** The tick, unix seconds. */
  readonly firedAt: number
  readonly conviction: number
  readonly walletsHolding: number
  /** Numbers of the holders' aliases, ascending. */
  readonly wallets: readonly number[]
  /** Null while it is not known. */
  readonly triggerMcap: number | null
  readonly heldLamports: bigint
  readonly buyLamports: bigint
  readonly sellLamports: bigint
  /** In the order of the strategy's conditions. */
  readonly reasons: readonly Reason[]
}

/** What fires once: a strategy, for one stay of a token on the list. */
export interface Firing extends Stay {
  readonly strategy: string
}

/** Which strategies have fired for which stay of a token on the list, and which fire at the next tick. */
export class Firings {
  readonly #fired = new Map<string, Map<number, Set<string>>>()
  /** What every listed token was looked at with, and at which tick. */
  #strategies: readonly Strategy[] = []
  #lookedAt = Number.NEGATIVE_INFINITY

  /**
   * What fires at a tick: for each strategy and listed token of which all conditions hold and nothing has fired yet; by mint, then strategy. Marks nothing as fired:
   * `add` them once they are stored. A token that has not changed since the tick before is looked at only with strategies that time alone can make hold.
   */
  fires(
    strategies: readonly Strategy[],
    { at, listed }: Pick<WatchlistTick, 'at' | 'listed'>,
  ): readonly Signal[] {
    const signals: Signal[] = []
    const growing = strategies.filter(growsInto)
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

  add(firings: Iterable<Firing>): void {
    for (const { strategy, mint, entry } of firings) {
      const entries = this.#fired.get(mint) ?? new Map<number, Set<string>>()
      this.#fired.set(mint, entries)
      entries.set(entry, (entries.get(entry) ?? new Set<string>()).add(strategy))
    }
  }

  /** Forgets stays that have ended: they do not come again. */
  forget(left: Iterable<Stay>): void {
    for (const { mint, entry } of left) {
      const entries = this.#fired.get(mint)
      entries?.delete(entry)
      if (entries?.size === 0) this.#fired.delete(mint)
    }
  }
}

function signalOf(
  strategy: Strategy,
  token: WatchedToken,
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
    conviction: token.conviction,
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
function idOf({ strategy, mint, entry }: Firing): string {
  return createHash('sha256').update(`${strategy} ${mint} ${entry}`).digest('hex').slice(0, 32)
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
