import type { Logger } from '../../runtime/logger.ts'
import type { Registry } from '../../runtime/telemetry.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import type { Strategy } from '../../trending/strategy.ts'
import { SignalDetector, type SignalKey } from '../../trending/strategy-signal.ts'
import {
  TICK_SECONDS,
  type WatchedToken,
  type WatchlistTick,
} from '../../trending/watched-token.ts'
import { createSignalsMetrics } from '../telemetry.ts'
import { signalRow } from './signal-rows.ts'

/** What fires filter strategies (rule G5). */
export interface Signals {
  /** Stores what fires at this tick; resolves when it is stored. Ticks come in order; one that is done again after a crash stores nothing anew. */
  onTick(tick: WatchlistTick): Promise<void>
  /** From the next tick on these are in force. One that is new fires for every listed token of which its conditions hold then; one that keeps its name does not fire again where it has. */
  replace(strategies: readonly Strategy[]): void
  /** Waits for no lost store any more: a tick that is under way rejects with `closed`. */
  stop(): void
}

export interface SignalsDeps {
  readonly store: Store
  readonly strategies: readonly Strategy[]
  readonly logger: Logger
  readonly registry: Registry
}

/**
 * Evaluates the strategies on every listed token at each tick and stores what fires in table `signals`; a lost store is waited for. What has fired for the stays on
 * the list is kept in memory, and read from the table at the first tick and after ticks that another process did: killed at any moment, nothing fires twice.
 */
export function createSignals(deps: SignalsDeps): Signals {
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
        await store.insert('signals', signals.map(signalRow))
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

/** What has fired for the stays of this tick, and for those that begin after it: those of ticks that were not done to their end. */
async function readFirings(
  store: Store,
  at: number,
  listed: readonly WatchedToken[],
): Promise<SignalDetector> {
  const entryOf = new Map(listed.map((token) => [token.mint, token.enteredAt]))
  const since = listed.reduce((first, token) => Math.min(first, token.enteredAt), at)
  // Nothing fires before it is listed, so the sort key bounds what is read.
  const rows = await store.query<SignalKey>(
    'SELECT DISTINCT strategy, mint, entry FROM signals WHERE fired_at >= {since:UInt32} AND entry >= {since:UInt32}',
    { since },
  )
  const firings = new SignalDetector()
  firings.add(rows.filter(({ mint, entry }) => entry >= at || entryOf.get(mint) === entry))
  return firings
}
