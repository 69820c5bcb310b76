import type { Logger } from '../runtime/logger.ts'
import type { Registry } from '../runtime/telemetry.ts'
import type { Store } from '../store/store.ts'
import type { Strategy } from '../trending/strategy.ts'
import { type Firing, Firings } from '../trending/strategy-signal.ts'
import type { WatchedToken, WatchlistTick } from '../trending/watched-token.ts'
import { signalRow } from './signal-rows.ts'
import { createSignalsMetrics } from './telemetry.ts'

/** What fires filter strategies (decisions G5). */
export interface Signals {
  /** Stores what fires at this tick; resolves when it is stored. Ticks come in order; one that is done again after a crash stores nothing anew. */
  onTick(tick: WatchlistTick): Promise<void>
  /** From the next tick on these are in force. One that is new fires for every listed token of which its conditions hold then; one that keeps its name does not fire again where it has. */
  replace(strategies: readonly Strategy[]): void
}

export interface SignalsDeps {
  /** One that waits for its server. */
  readonly store: Store
  readonly strategies: readonly Strategy[]
  readonly logger: Logger
  readonly registry: Registry
}

/**
 * Evaluates the strategies on every listed token at each tick and stores what fires in table `signals`. What has fired for the stays on the list is kept in
 * memory, and read from the table at the first tick: killed at any moment, nothing fires twice.
 */
export function createSignals({ store, strategies, logger, registry }: SignalsDeps): Signals {
  const metrics = createSignalsMetrics(registry)
  let inForce = strategies
  let known: Firings | null = null
  return {
    async onTick({ at, listed, left }) {
      known ??= await readFirings(store, at, listed)
      const signals = known.fires(inForce, { at, listed })
      if (signals.length > 0) {
        await store.insert('signals', signals.map(signalRow))
        metrics.fired.inc(signals.length)
        logger.debug({ at, signals: signals.length }, 'strategies fired')
      }
      known.add(signals)
      known.forget(left)
    },
    replace(strategies) {
      inForce = strategies
    },
  }
}

/** What has fired for the stays of this tick, and for those that begin after it: those of ticks that were not done to their end. */
async function readFirings(
  store: Store,
  at: number,
  listed: readonly WatchedToken[],
): Promise<Firings> {
  const entryOf = new Map(listed.map((token) => [token.mint, token.enteredAt]))
  const since = listed.reduce((first, token) => Math.min(first, token.enteredAt), at)
  // Nothing fires before it is listed, so the sort key bounds what is read.
  const rows = await store.query<Firing>(
    'SELECT DISTINCT strategy, mint, entry FROM signals WHERE fired_at >= {since:UInt32} AND entry >= {since:UInt32}',
    { since },
  )
  const firings = new Firings()
  firings.add(rows.filter(({ mint, entry }) => entry >= at || entryOf.get(mint) === entry))
  return firings
}
