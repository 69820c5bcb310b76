import { createPerturb } from '../../domain/perturbation.ts'
import { readStorageMarker } from '../../store/read-storage-marker.ts'
import type { Store } from '../../store/store.ts'
import { type ComputedTick, createEngine, type TrendingEngine } from '../../trending/engine.ts'
import { MOST_EARLIER_SECONDS } from '../../trending/trending-event.ts'
import { TICK_SECONDS, type WatchedToken } from '../../trending/watched-token.ts'
import { TrendingSource } from './trending-source.ts'

export interface TrendingConfig {
  /** `PRIVACY_SALT` (rule I2). */
  readonly salt: string | null
  readonly solPriceMaxAgeSeconds: number
}

/** An engine with what it reads from. */
export interface OpenEngine {
  readonly engine: TrendingEngine
  readonly source: TrendingSource
}

/** Brings an engine to where it stands before tick `from`. `told`: what is written of the tokens that are listed then; empty: nothing is. */
export async function openEngine(
  store: Store,
  { salt, solPriceMaxAgeSeconds }: TrendingConfig,
  from: number,
  told: readonly WatchedToken[] = [],
): Promise<OpenEngine> {
  const perturb = createPerturb(salt)
  const engine = createEngine({ from, solPriceMaxAgeSeconds, perturb })
  const lagSeconds = lagOf(salt)
  const source = new TrendingSource({ store, engine, lagSeconds, solPriceMaxAgeSeconds })
  await source.open(told)
  return { engine, source }
}

/** How far storage is: up to which slot everything is stored, and the newest tick that it has passed. Null before the first slot. */
export async function readReach(
  store: Store,
  salt: string | null,
): Promise<{ readonly slot: number; readonly tick: number } | null> {
  const marker = await readStorageMarker(store)
  if (marker === null) return null
  // The slots of the marker's second may not all have come.
  const passed = marker.blockTime - 1 - lagOf(salt)
  return { slot: marker.slot, tick: passed - (passed % TICK_SECONDS) }
}

/**
 * Computes the watchlist at each tick from `from` to `through` anew from what is stored, a range at a time, without writing anything. Both are rounded up to a
 * tick; what storage has not passed is left out. Gives each tick in order; its `listed` is valid until the next is asked for.
 *
 * What is on the list before `from` comes as `entered` with the first tick, with the time at which it really entered.
 */
export async function* replayTicks(
  store: Store,
  config: TrendingConfig,
  range: { readonly from: number; readonly through: number },
): AsyncGenerator<ComputedTick> {
  const reach = await readReach(store, config.salt)
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

/** Six hours. */
const TICKS_PER_READ = 2160

/** How long after a tick things happen that count by it. */
function lagOf(salt: string | null): number {
  return salt === null ? 0 : MOST_EARLIER_SECONDS
}
