import { ServiceError } from '../../domain/service-error.ts'
import { EventLoopYield } from '../../runtime/event-loop-yield.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import { readNewestTick } from '../../store/read-watchlist.ts'
import type { Store } from '../../store/store.ts'
import type { PoolPicture } from '../../trending/figures.ts'
import {
  TICK_SECONDS,
  type WatchedToken,
  type WatchlistChange,
  type WatchlistTick,
} from '../../trending/watched-token.ts'
import type { TrendingMetrics } from '../telemetry.ts'
import {
  poolStateRow,
  readChanges,
  readPoolStates,
  readTold,
  watchlistRow,
} from './trending-rows.ts'
import { type OpenEngine, openEngine, readReach, type TrendingConfig } from './trending-ticks.ts'

/** The worker that computes the watchlist (rule G1). */
export interface Trending {
  /** Resolves when nothing is under way any more. What was not computed is at the next start. */
  stop(): Promise<void>
}

/** What pools hold, by whoever watches them. */
export interface PoolSource {
  /** Replaces what is watched. */
  watch(pools: readonly { readonly mint: string; readonly pool: string }[]): void
  /** Undefined while nothing is known of the token's pool. */
  newest(mint: string): (Omit<PoolPicture, 'at'> & { readonly slot: number }) | undefined
}

export interface TrendingDeps {
  readonly store: Store
  readonly logger: Logger
  readonly metrics: TrendingMetrics
  /** Whether this process is the one to compute, of several: the one that has partition 0 of the fold. Two at once, for a tick, write the same rows. */
  readonly isMine: () => boolean
  readonly pools?: PoolSource | null
  /** Called with each tick, in order, after it is computed and before it is stored as done: again after a crash, so what it does is idempotent. */
  readonly onTick?: (tick: WatchlistTick) => Promise<void>
  /** Called with what can only be a bug; the process should end. */
  readonly onBug: (error: unknown) => void
  /** Waits; ends early when the signal is aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** How often storage is asked how far it is. */
const EVERY_MS = 1000
/** Of a longer absence, and at a first start, only the newest ticks are computed: what was listed before has left meanwhile. */
const MOST_BEHIND_SECONDS = 86_400
/** At a first start, how long history that is being fetched is waited for. */
const MOST_WAIT_MS = 40_000
/** Ticks read at once (six hours), and rows stored at once, while catching up: a query costs more than what it reads. */
const TICKS_PER_READ = 2160
const ROWS_PER_INSERT = 5000
/** Later than any tick. */
const EVER = 2 ** 32 - 1
/** At most so many pools are watched, of the tokens with most conviction. */
const MOST_POOLS = 500

/**
 * Computes the watchlist of each tick that storage has passed, in order, and stores what has changed; `progress` of worker `trending` after all of it.
 *
 * Killed anywhere, the ticks beyond `progress` are computed again from stored rows: the same rows under the same keys. What had been written of them and would
 * not be any more, as something came late meanwhile, is taken back. A lost store is waited for.
 */
export function startTrending(deps: TrendingDeps, config: TrendingConfig): Trending {
  const { logger, metrics, sleep = pause } = deps
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, logger)

  async function run(): Promise<void> {
    let worker: TickWorker | null = null
    const startedAt = performance.now()
    while (!stopping.signal.aborted) {
      if (!deps.isMine()) {
        if (worker !== null) deps.pools?.watch([])
        worker = null
      } else {
        const reach = await readReach(store, config.salt)
        if (reach !== null && (worker !== null || !(await awaitsHistory(store, startedAt)))) {
          // While partitions moved another process may have done ticks: from what it wrote it goes on.
          if (worker !== null && worker.at < reach.tick && worker.at < (await storedTick(store)))
            worker = null
          worker ??= await openWorker(store, config, deps, reach.tick)
          await worker.computeThrough(reach, stopping.signal)
        }
      }
      await sleep(EVERY_MS, stopping.signal)
    }
  }

  metrics.listed.set(0)
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

/** Whether a new installation still fetches the history that its first ticks are made of: what came later would not show in them. */
async function awaitsHistory(store: Store, startedAt: number): Promise<boolean> {
  if (performance.now() - startedAt > MOST_WAIT_MS) return false
  const [row] = await store.query<{ open: string }>(
    `SELECT count() AS open FROM backfills FINAL WHERE state = 'open' AND NOT EXISTS (SELECT 1 FROM progress WHERE worker = 'trending')`,
  )
  return row?.open !== '0'
}

/** Goes on after the newest tick that is stored; where there is none, or it is long ago, begins a day back. */
async function openWorker(
  store: Store,
  config: TrendingConfig,
  deps: TrendingDeps,
  newestTick: number,
): Promise<TickWorker> {
  const stored = await storedTick(store)
  const oldest = newestTick - MOST_BEHIND_SECONDS
  const from = Math.max(stored + TICK_SECONDS, oldest)
  const told = await readTold(store, stored)
  const beyond = await readChanges(store, stored, EVER)
  const pools = await readPoolStates(store, null, stored - MOST_BEHIND_SECONDS, EVER)
  const open = await openEngine(store, config, from, told)
  deps.logger.info(
    { listed: told.length, tokens: open.engine.size, behindSeconds: newestTick - from },
    'trending engine opened',
  )
  return new TickWorker(store, deps, open, { told, beyond, pools })
}

async function storedTick(store: Store): Promise<number> {
  return (await readNewestTick(store)) ?? 0
}

class TickWorker {
  readonly #store: Store
  readonly #deps: TrendingDeps
  readonly #open: OpenEngine
  /** Rows that a process wrote which died before the tick was done, by tick and mint. */
  readonly #beyond: Map<string, WatchlistChange>
  /** What is stored of each pool that is known, also by a process that died before the tick was done. */
  readonly #pools = new Map<string, PoolPicture>()
  #isFirst = true

  constructor(
    store: Store,
    deps: TrendingDeps,
    open: OpenEngine,
    stored: {
      readonly told: readonly WatchedToken[]
      readonly beyond: readonly WatchlistChange[]
      readonly pools: readonly PoolPicture[]
    },
  ) {
    this.#store = store
    this.#deps = deps
    this.#open = open
    this.#beyond = new Map(stored.beyond.map((change) => [keyOf(change), change]))
    for (const picture of stored.pools) this.#notePool(picture)
  }

  /** The newest tick that is computed. */
  get at(): number {
    return this.#open.engine.at
  }

  /** Ends early, between two stretches of ticks, when another process is to go on. */
  async computeThrough(
    reach: { readonly slot: number; readonly tick: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { engine, source } = this.#open
    const loopYield = new EventLoopYield()
    while (engine.at < reach.tick && !signal.aborted && this.#deps.isMine()) {
      const started = performance.now()
      const next = engine.at + TICK_SECONDS
      // Pools are looked at as they are: at the newest tick, and where what was known of them ended with a process.
      const isLive = next === reach.tick
      if (isLive || this.#isFirst) await this.#storePools(next)
      this.#isFirst = false
      const end = isLive
        ? next
        : Math.min(reach.tick - TICK_SECONDS, engine.at + TICKS_PER_READ * TICK_SECONDS)
      const reloaded = await source.readThrough(end, reach.slot)
      if (reloaded > 0) this.#deps.metrics.reloaded.inc(reloaded)
      let changes: WatchlistChange[] = []
      let listed = 0
      for (let at = next; at <= end && !signal.aborted; at += TICK_SECONDS) {
        const tick = engine.tick(at)
        await this.#deps.onTick?.(tick)
        changes.push(...this.#withTakenBack(tick.at, tick.changes))
        listed = tick.listed.length
        if (changes.length >= ROWS_PER_INSERT || at === end) {
          await this.#storeTicks(at, changes)
          changes = []
        }
        if (loopYield.isDue) await loopYield.wait()
      }
      const { metrics } = this.#deps
      metrics.listed.set(listed)
      metrics.tokens.set(engine.size)
      if (isLive) metrics.tickSeconds.observe((performance.now() - started) / 1000)
    }
    this.#deps.pools?.watch(engine.pools().slice(0, MOST_POOLS))
  }

  async #storeTicks(at: number, changes: readonly WatchlistChange[]): Promise<void> {
    for (let from = 0; from < changes.length; from += ROWS_PER_INSERT)
      await this.#store.insert(
        'watchlist',
        changes.slice(from, from + ROWS_PER_INSERT).map(watchlistRow),
      )
    await this.#store.insert('progress', [
      { worker: 'trending', partition: 0, partitions: 1, slot: at, parent: 0, block_time: at },
    ])
    const { metrics } = this.#deps
    for (const { event } of changes) metrics.rows.inc({ event })
    metrics.tick.set(at)
  }

  /** Of what a process wrote of this tick before it died, what would not be written now says what is so now: that nothing has changed, or that the token is not listed. */
  #withTakenBack(at: number, changes: readonly WatchlistChange[]): readonly WatchlistChange[] {
    if (this.#beyond.size === 0) return changes
    const all = [...changes]
    for (const change of changes) this.#beyond.delete(keyOf(change))
    for (const [key, { token }] of this.#beyond) {
      if (token.at > at) continue
      this.#beyond.delete(key)
      const told = this.#open.engine.toldOf(token.mint)
      if (told !== null)
        all.push({ event: 'changed', token: { ...told, at: token.at }, reasons: [] })
      else all.push({ event: 'left', token, reasons: ['it was never listed'] })
    }
    return all
  }

  /** Stores what the pools of listed tokens hold now, where it has changed, as of tick `at`; of a process that follows none: that they are not known. */
  async #storePools(at: number): Promise<void> {
    const { pools } = this.#deps
    const changed: (PoolPicture & { readonly slot: number })[] = []
    const watched = this.#open.engine.pools().slice(0, MOST_POOLS)
    const current = new Set<string>()
    for (const { mint } of watched) {
      const state = pools?.newest(mint)
      if (state === undefined) continue
      current.add(mint)
      const { pool, slot, quoteMint, quoteReserve, price } = state
      const picture = { at, mint, pool, slot, quoteMint, quoteReserve, price }
      if (!isSamePool(this.#pools.get(mint), picture)) changed.push(picture)
    }
    for (const mint of this.#pools.keys())
      if (!current.has(mint)) changed.push({ ...NO_POOL, at, mint })
    if (changed.length === 0) return
    await this.#store.insert('pool_states', changed.map(poolStateRow))
    for (const picture of changed) this.#notePool(picture)
  }

  #notePool(picture: PoolPicture): void {
    if (picture.pool === '') this.#pools.delete(picture.mint)
    else this.#pools.set(picture.mint, picture)
  }
}

const NO_POOL = {
  pool: '',
  slot: 0,
  quoteMint: '',
  quoteReserve: 0n,
  price: { quote: 0n, base: 0n },
} as const

function isSamePool(known: PoolPicture | undefined, next: PoolPicture): boolean {
  return (
    known !== undefined &&
    known.pool === next.pool &&
    known.quoteMint === next.quoteMint &&
    known.quoteReserve === next.quoteReserve &&
    known.price.quote === next.price.quote &&
    known.price.base === next.price.base
  )
}

function keyOf({ token }: WatchlistChange): string {
  return `${token.at} ${token.mint}`
}
