import type { Logger } from '../../runtime/logger.ts'
import type { Registry } from '../../runtime/telemetry.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import { insertSignals, readFired } from '../../store/tables/signals.ts'
import type { Strategy } from '../../trending/strategy.ts'
import { SignalDetector } from '../../trending/strategy-signal.ts'
import { type ExactToken, TICK_SECONDS, type WatchlistTick } from '../../trending/watched-token.ts'
import { createSignalsMetrics } from '../telemetry.ts'
import { signalRow } from './signal-rows.ts'

/** Fires filter strategies (rule G5). */
export interface StrategyRunner {
  /**
   * Stores the signals of this tick. Ticks come in order. A tick that comes again stores nothing
   * new.
   */
  onTick(tick: WatchlistTick): Promise<void>
  /**
   * Puts these strategies in force from the next tick on. A new one fires for every listed token
   * that meets its conditions then. One that keeps its name does not fire again where it has fired.
   */
  replace(strategies: readonly Strategy[]): void
  /** Stops waiting for the store: a running `onTick` rejects with `closed`. */
  stop(): void
}

/** Dependencies of signals. */
export interface StrategyRunnerDeps {
  readonly store: Store
  readonly strategies: readonly Strategy[]
  readonly logger: Logger
  readonly registry: Registry
}

/**
 * Evaluates the strategies on every listed token at each tick, and stores the resulting signals in
 * table `signals`. It retries while the store is down. A strategy fires once per mint and listing.
 * The signals of the current listings are in memory. They are read from the table at the first
 * tick, and again after another process has computed ticks. So a crash cannot cause a duplicate
 * signal.
 */
export function createStrategyRunner(deps: StrategyRunnerDeps): StrategyRunner {
  const { logger } = deps
  const metrics = createSignalsMetrics(deps.registry)
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, logger)
  let inForce = deps.strategies
  let known: { readonly firings: SignalDetector; at: number } | null = null
  return {
    async onTick({ at, listed, left }) {
      if (known?.at !== at - TICK_SECONDS)
        known = { firings: await readFirings(store, at, listed), at }
      const signals = known.firings.detect(inForce, { at, listed })
      if (signals.length > 0) {
        await insertSignals(store, signals.map(signalRow))
        metrics.fired.inc(signals.length)
        logger.debug({ at, signals: signals.length }, 'strategies fired')
      }
      known.firings.add(signals)
      known.firings.forget(left)
      known.at = at
    },
    replace(strategies) {
      inForce = strategies
    },
    stop: () => stopping.abort(),
  }
}

/**
 * Reads the stored signals of the tokens that are on the list at this tick. It also reads signals
 * of later ticks, which an earlier process stored without finishing the tick.
 */
async function readFirings(
  store: Store,
  at: number,
  listed: readonly ExactToken[],
): Promise<SignalDetector> {
  const entryOf = new Map(listed.map((token) => [token.mint, token.enteredAt]))
  const since = listed.reduce((first, token) => Math.min(first, token.enteredAt), at)
  // A token fires only while it is listed, so `since` bounds the rows by the sort key.
  const rows = await readFired(store, since)
  const firings = new SignalDetector()
  firings.add(rows.filter(({ mint, entry }) => entry >= at || entryOf.get(mint) === entry))
  return firings
}
