import { compareFractions, type Fraction, nearestTo } from '../domain/fraction.ts'
import { multipleOf } from './figures.ts'
import type { Signal } from './strategy-signal.ts'
import type { WatchlistTick } from './watched-token.ts'

/**
 * Market caps after a strategy fired, as multiples of the market cap when it fired. Null where
 * either market cap is unknown, or the observed period ended before.
 */
export interface SignalOutcome {
  readonly after1h: number | null
  readonly after24h: number | null
  /**
   * Highest multiple within 24 hours, or until the end of the observed period, from the moment of
   * firing on.
   */
  readonly peak: number | null
  /** Unix seconds of the first tick with the peak. */
  readonly peakAt: number | null
}

const HOUR_SECONDS = 3600
const DAY_SECONDS = 24 * HOUR_SECONDS

/**
 * Follows signals through the ticks after them. A market cap that is unknown at a tick is that of
 * the previous tick.
 */
export class OutcomeTracker {
  /** In the order of firing. */
  readonly #followed: Followed[] = []
  /** By mint: the newest known market cap, and the signals of the last 24 hours. */
  readonly #byMint = new Map<string, { mcap: Fraction; signals: Followed[] }>()
  #hourDone = 0
  #dayDone = 0

  /** Adds a tick and its signals. Ticks come in order. */
  add({ at, mcapOf }: Pick<WatchlistTick, 'at' | 'mcapOf'>, signals: readonly Signal[]): void {
    for (const [mint, token] of this.#byMint) {
      const mcap = mcapOf(mint)
      if (mcap === null) continue
      token.mcap = mcap
      for (const followed of token.signals) followed.see(at, mcap)
    }
    for (; this.#isDue(this.#hourDone, HOUR_SECONDS, at); this.#hourDone += 1) {
      const followed = this.#followed[this.#hourDone]
      if (followed) followed.after1h = this.#multipleOf(followed)
    }
    for (; this.#isDue(this.#dayDone, DAY_SECONDS, at); this.#dayDone += 1) {
      const followed = this.#followed[this.#dayDone]
      if (followed === undefined) continue
      followed.after24h = this.#multipleOf(followed)
      this.#leave(followed)
    }
    for (const signal of signals) this.#follow(signal)
  }

  /** The outcomes of all signals, in the order of firing. */
  outcomes(): readonly { readonly signal: Signal; readonly outcome: SignalOutcome }[] {
    return this.#followed.map(({ signal, after1h, after24h, peak, peakAt }) => ({
      signal,
      outcome: {
        after1h,
        after24h,
        peak: nearestTo(multipleOf(peak, signal.triggerMcap)),
        peakAt,
      },
    }))
  }

  #isDue(index: number, seconds: number, at: number): boolean {
    const followed = this.#followed[index]
    return followed !== undefined && followed.signal.firedAt + seconds <= at
  }

  #multipleOf({ signal: { mint, triggerMcap } }: Followed): number | null {
    return nearestTo(multipleOf(this.#byMint.get(mint)?.mcap ?? null, triggerMcap))
  }

  #follow(signal: Signal): void {
    const followed = new Followed(signal)
    this.#followed.push(followed)
    const { mint, triggerMcap } = signal
    if (triggerMcap === null) return
    const token = this.#byMint.get(mint)
    if (token === undefined) this.#byMint.set(mint, { mcap: triggerMcap, signals: [followed] })
    else token.signals.push(followed)
  }

  #leave(followed: Followed): void {
    const { mint } = followed.signal
    const token = this.#byMint.get(mint)
    if (token === undefined) return
    token.signals = token.signals.filter((other) => other !== followed)
    if (token.signals.length === 0) this.#byMint.delete(mint)
  }
}

class Followed {
  readonly signal: Signal
  after1h: number | null = null
  after24h: number | null = null
  /** Highest market cap; null if the signal has no multiples. */
  peak: Fraction | null
  peakAt: number | null

  constructor(signal: Signal) {
    const { triggerMcap, firedAt } = signal
    const hasMultiples = triggerMcap !== null && triggerMcap.numerator > 0n
    this.signal = signal
    this.peak = hasMultiples ? triggerMcap : null
    this.peakAt = hasMultiples ? firedAt : null
  }

  see(at: number, mcap: Fraction): void {
    if (this.peak === null || compareFractions(mcap, this.peak) <= 0) return
    this.peak = mcap
    this.peakAt = at
  }
}
