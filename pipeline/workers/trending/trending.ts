import { ServiceError } from '../../domain/service-error.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import { hasOpenBackfills } from '../../store/tables/backfills.ts'
import { readPoolStates } from '../../store/tables/pool-states.ts'
import { readNewestTick } from '../../store/tables/progress.ts'
import { TICK_SECONDS, type WatchlistTick } from '../../trending/watched-token.ts'
import type { TrendingMetrics } from '../telemetry.ts'
import { PoolRecorder, type PoolSource } from './pool-recorder.ts'
import { TickWorker } from './tick-worker.ts'
import { readChanges, readListedTokens } from './trending-rows.ts'
import { openEngine, readStorageReach, type TrendingConfig } from './trending-ticks.ts'
import { UnfinishedChanges } from './unfinished-changes.ts'

/** The worker that computes the watchlist (rule G1). */
export interface TrendingWorker {
  /** Stops, and resolves when nothing runs. The next start computes the ticks that are missing. */
  stop(): Promise<void>
}

/** Dependencies of the worker. */
export interface TrendingDeps {
  readonly store: Store
  readonly logger: Logger
  readonly metrics: TrendingMetrics
  /**
   * Whether this process computes the watchlist. Among several processes, it is the one that has
   * partition 0 of the fold. Two processes may compute the same tick for a moment; they write the
   * same rows.
   */
  readonly isMine: () => boolean
  readonly pools?: PoolSource | null
  /**
   * Called with each tick in order, before the tick is stored as done. After a crash a tick comes
   * again, so the callback must be idempotent.
   */
  readonly onTick?: (tick: WatchlistTick) => Promise<void>
  /** Called with an error that only a bug can cause; the process should end. */
  readonly onBug: (error: unknown) => void
  /** Waits; ends early when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** How often storage is polled. */
const EVERY_MS = 1000
/**
 * Oldest tick computed at a start: 24 hours back. Tokens listed before have left the list by then.
 */
const MOST_BEHIND_SECONDS = 86_400
/** How long a first start waits for backfills that are running. */
const MOST_WAIT_MS = 40_000
/** Later than every tick. */
const FOREVER = 2 ** 32 - 1

/**
 * Starts the worker. It computes, in order, each tick that storage has passed, and stores the
 * changes; `progress` of worker `trending` is stored last. After a crash the ticks beyond
 * `progress` are computed again: the same rows under the same keys, or corrections of rows that do
 * not hold any more. While the store is down the worker waits.
 */
export function startTrending(deps: TrendingDeps, config: TrendingConfig): TrendingWorker {
  const { sleep = pause } = deps
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, deps.logger)

  async function run(): Promise<void> {
    let worker: TickWorker | null = null
    const startedAt = performance.now()
    while (!stopping.signal.aborted) {
      if (deps.isMine()) worker = await advance(worker, startedAt)
      else {
        if (worker !== null) deps.pools?.watch([])
        worker = null
      }
      await sleep(EVERY_MS, stopping.signal)
    }
  }

  /**
   * Computes what storage has passed since. Returns the worker that did; null if none can work yet.
   */
  async function advance(worker: TickWorker | null, startedAt: number): Promise<TickWorker | null> {
    const reach = await readStorageReach(store, config.salt)
    if (reach === null) return worker
    if (worker === null && (await awaitsHistory(store, startedAt))) return null
    // While partitions moved, another process may have stored ticks. Then the engine is opened
    // anew.
    const isOvertaken =
      worker !== null && worker.at < reach.tick && worker.at < (await storedTick(store))
    const current =
      worker === null || isOvertaken ? await openWorker(store, config, deps, reach.tick) : worker
    await current.computeThrough(reach, stopping.signal)
    return current
  }

  deps.metrics.listed.set(0)
  const done = run().catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.code === 'closed')) deps.onBug(error)
  })
  return {
    async stop() {
      stopping.abort()
      await done
    },
  }
}

/**
 * Whether a new installation still fetches the history that its first ticks depend on. Events that
 * arrive after a tick is computed would not show in it.
 */
async function awaitsHistory(store: Store, startedAt: number): Promise<boolean> {
  if (performance.now() - startedAt > MOST_WAIT_MS) return false
  return (await readNewestTick(store)) === null && (await hasOpenBackfills(store))
}

/**
 * Resumes after the newest stored tick; at most a day back, which is also where a first start
 * begins.
 */
async function openWorker(
  store: Store,
  config: TrendingConfig,
  deps: TrendingDeps,
  newestTick: number,
): Promise<TickWorker> {
  const stored = await storedTick(store)
  const from = Math.max(stored + TICK_SECONDS, newestTick - MOST_BEHIND_SECONDS)
  const listed = await readListedTokens(store, stored)
  const unfinished = await readChanges(store, stored, FOREVER)
  const poolStates = await readPoolStates(store, null, stored - MOST_BEHIND_SECONDS, FOREVER)
  const open = await openEngine(store, config, from, listed)
  deps.logger.info(
    { listed: listed.length, tokens: open.engine.size, behindSeconds: newestTick - from },
    'trending engine opened',
  )
  const { metrics, isMine, pools = null, onTick } = deps
  return new TickWorker(
    { store, metrics, isMine, pools, onTick },
    open,
    new UnfinishedChanges(unfinished),
    new PoolRecorder(store, pools, poolStates),
  )
}

async function storedTick(store: Store): Promise<number> {
  return (await readNewestTick(store)) ?? 0
}
