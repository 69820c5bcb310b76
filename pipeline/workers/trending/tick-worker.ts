import { EventLoopYield } from '../../runtime/event-loop-yield.ts'
import type { Store } from '../../store/store.ts'
import { insertProgress } from '../../store/tables/progress.ts'
import { insertWatchlist } from '../../store/tables/watchlist.ts'
import {
  TICK_SECONDS,
  type WatchlistChange,
  type WatchlistTick,
} from '../../trending/watched-token.ts'
import type { TrendingMetrics } from '../telemetry.ts'
import type { PoolRecorder, PoolSource } from './pool-recorder.ts'
import { watchlistRow } from './trending-rows.ts'
import { type OpenEngine, type StorageReach, TICKS_PER_READ } from './trending-ticks.ts'
import type { UnfinishedChanges } from './unfinished-changes.ts'

/** Dependencies of computing ticks. */
export interface TickWorkerDeps {
  readonly store: Store
  readonly metrics: TrendingMetrics
  /** Whether this process computes the watchlist. */
  readonly isMine: () => boolean
  readonly pools: PoolSource | null
  readonly onTick: ((tick: WatchlistTick) => Promise<void>) | undefined
}

/** Maximum number of rows of one insert while catching up. */
const ROWS_PER_INSERT = 5000
/** Maximum number of pools watched, of the tokens with most conviction. */
const MOST_POOLS = 500

/** Computes ticks in order, and stores them. */
export class TickWorker {
  readonly #deps: TickWorkerDeps
  readonly #open: OpenEngine
  readonly #unfinished: UnfinishedChanges
  readonly #recorder: PoolRecorder
  #isFirst = true
  /** The tick whose pools are watched. */
  #watchedAt = Number.NaN

  constructor(
    deps: TickWorkerDeps,
    open: OpenEngine,
    unfinished: UnfinishedChanges,
    recorder: PoolRecorder,
  ) {
    this.#deps = deps
    this.#open = open
    this.#unfinished = unfinished
    this.#recorder = recorder
  }

  /** The newest tick that is computed. */
  get at(): number {
    return this.#open.engine.at
  }

  /**
   * Computes and stores the ticks up to `reach.tick`. Ends early, between two ranges of ticks, when
   * another process is to compute them. The newest tick is a separate range.
   */
  async computeThrough(reach: StorageReach, signal: AbortSignal): Promise<void> {
    const { engine } = this.#open
    while (engine.at < reach.tick && !signal.aborted && this.#deps.isMine()) {
      const startedAt = performance.now()
      const next = engine.at + TICK_SECONDS
      const isLive = next === reach.tick
      // The newest tick records the live pool states. The first tick ends those of the previous
      // process.
      if (isLive || this.#isFirst) await this.#recorder.record(next, this.#watchedPools())
      this.#isFirst = false
      const end = isLive
        ? next
        : Math.min(reach.tick - TICK_SECONDS, engine.at + TICKS_PER_READ * TICK_SECONDS)
      await this.#computeRange(next, end, reach.slot, signal)
      if (isLive) this.#deps.metrics.tickSeconds.observe((performance.now() - startedAt) / 1000)
    }
    if (engine.at === this.#watchedAt) return
    this.#watchedAt = engine.at
    this.#deps.pools?.watch(this.#watchedPools())
  }

  async #computeRange(
    from: number,
    through: number,
    storedSlot: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { engine, source } = this.#open
    const { metrics } = this.#deps
    const reloaded = await source.readThrough(through, storedSlot)
    if (reloaded > 0) metrics.reloaded.inc(reloaded)
    const loopYield = new EventLoopYield()
    let changes: WatchlistChange[] = []
    let listed = 0
    for (let at = from; at <= through && !signal.aborted; at += TICK_SECONDS) {
      const tick = engine.tick(at)
      await this.#deps.onTick?.(tick)
      const listedRow = (mint: string) => engine.writtenOf(mint)
      changes.push(...this.#unfinished.correct(tick.at, tick.changes, listedRow))
      listed = tick.listed.length
      if (changes.length >= ROWS_PER_INSERT || at === through) {
        await this.#store(at, changes)
        changes = []
      }
      if (loopYield.isDue) await loopYield.wait()
    }
    metrics.listed.set(listed)
    metrics.tokens.set(engine.size)
  }

  /** Stores rows of `watchlist`, then `progress`: a crash in between repeats the ticks. */
  async #store(at: number, changes: readonly WatchlistChange[]): Promise<void> {
    const { store, metrics } = this.#deps
    await insertWatchlist(store, changes.map(watchlistRow))
    await insertProgress(store, [
      { worker: 'trending', partition: 0, partitions: 1, slot: at, parent: 0, block_time: at },
    ])
    for (const { event } of changes) metrics.rows.inc({ event })
    metrics.tick.set(at)
  }

  #watchedPools() {
    return this.#open.engine.pools(MOST_POOLS)
  }
}
