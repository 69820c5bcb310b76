import { createPerturb, MOST_EARLIER_SECONDS } from '../../domain/perturbation.ts'
import type { Store } from '../../store/store.ts'
import { readStorageMarker } from '../../store/tables/progress.ts'
import { createEngine, type TrendingEngine } from '../../trending/engine.ts'
import { type ComputedTick, TICK_SECONDS, type WatchedToken } from '../../trending/watched-token.ts'
import { TrendingSource } from './trending-source.ts'

/** Configuration of the watchlist computation. */
export interface TrendingConfig {
  /** `PRIVACY_SALT` (rule I2). */
  readonly salt: string | null
  readonly solPriceMaxAgeSeconds: number
}

/** An engine, and the source that feeds it. */
export interface OpenEngine {
  readonly engine: TrendingEngine
  readonly source: TrendingSource
}

/**
 * Opens an engine in its state before tick `from`. `listed`: the stored rows of the tokens that are
 * on the list then; empty when nothing is stored.
 */
export async function openEngine(
  store: Store,
  { salt, solPriceMaxAgeSeconds }: TrendingConfig,
  from: number,
  listed: readonly WatchedToken[] = [],
): Promise<OpenEngine> {
  const perturb = createPerturb(salt)
  const engine = createEngine({ from, solPriceMaxAgeSeconds, perturb })
  const lagSeconds = lagOf(salt)
  const source = new TrendingSource({ store, engine, lagSeconds, solPriceMaxAgeSeconds })
  await source.open(listed)
  return { engine, source }
}

/** Position of storage. */
export interface StorageReach {
  /** Everything up to this slot is stored. */
  readonly slot: number
  /** The newest tick that storage has passed. */
  readonly tick: number
}

/** Returns how far storage is; null before the first slot is stored. */
export async function readStorageReach(
  store: Store,
  salt: string | null,
): Promise<StorageReach | null> {
  const marker = await readStorageMarker(store)
  if (marker === null) return null
  // Further slots of the marker's second may still come.
  const passed = marker.blockTime - 1 - lagOf(salt)
  return { slot: marker.slot, tick: passed - (passed % TICK_SECONDS) }
}

/**
 * Yields the watchlist at each tick from `from` to `through`, computed from storage without writing
 * anything. Both are unix seconds, `from` rounded up to a tick. Ticks that storage has not passed
 * are left out. `listed` of a tick is valid until the next tick is requested.
 *
 * Tokens listed before `from` are `entered` at the first tick, with their true time of entry.
 */
export async function* replayTicks(
  store: Store,
  config: TrendingConfig,
  range: { readonly from: number; readonly through: number },
): AsyncGenerator<ComputedTick> {
  const reach = await readStorageReach(store, config.salt)
  if (reach === null) return
  const from = Math.ceil(range.from / TICK_SECONDS) * TICK_SECONDS
  const through = Math.min(range.through, reach.tick)
  if (from > through) return
  const { engine, source } = await openEngine(store, config, from)
  for (let at = from; at <= through; at += TICKS_PER_READ * TICK_SECONDS) {
    const end = Math.min(through, at + (TICKS_PER_READ - 1) * TICK_SECONDS)
    await source.readThrough(end, reach.slot)
    for (let tick = at; tick <= end; tick += TICK_SECONDS) yield engine.tick(tick)
  }
}

/**
 * Ticks read together while catching up: six hours. A query costs more than the rows that it reads.
 */
export const TICKS_PER_READ = 2160

/**
 * Seconds after a tick in which events happen that count at it, because the salt moves times back.
 */
function lagOf(salt: string | null): number {
  return salt === null ? 0 : MOST_EARLIER_SECONDS
}
