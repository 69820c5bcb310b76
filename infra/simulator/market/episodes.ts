import { LRUCache } from 'lru-cache'
import type { ChainShape } from '../chain-shape.ts'
import { type CompressedSlots, minuteBlockFrom } from '../compressed-shape.ts'
import { hash32 } from '../random.ts'
import { BUSY_HABITS, type Desk, type Episode, playEpisode, type Scale } from './episode.ts'
import { CALM_HABITS } from './temperament.ts'
import type { Universe } from './universe.ts'
import type { PoolBalances } from './venues/pool.ts'

/** The episodes of all desks, each played when it is first needed. */
export interface Episodes {
  /** The episode of a desk on a scale that contains a slot. */
  at(desk: Desk, scale: Scale, slot: number): Episode
  /** The first slot of that episode. */
  startOf(desk: Desk, scale: Scale, slot: number): number
  /**
   * What a desk's episodes have added to an account at rest, on all scales together, before the
   * first transaction of a slot. In lamports by a wallet's key id, in raw USDC by its account's.
   */
  changeBefore(desk: Desk, keyId: string, slot: number): bigint
  /** The same, after the last transaction of the slot. */
  changeAfter(desk: Desk, keyId: string, slot: number): bigint
}

/** Minimum number of cached episodes; one takes some hundred kilobytes. */
const FEWEST_CACHED = 160

/** An episode without transactions, because it would begin before the history. */
const IDLE: Episode = { start: 0, end: 0, actions: new Map(), relativeBefore: () => 0n }

/** Creates the episodes of a market. `pools` are the pools' accounts by key id. */
export function createEpisodes(market: {
  readonly universe: Universe
  readonly pools: ReadonlyMap<string, PoolBalances>
  readonly desks: readonly Desk[]
  readonly scales: readonly Scale[]
  readonly shape: ChainShape
  readonly compressed: CompressedSlots | undefined
}): Episodes {
  const { universe, pools, desks, scales, shape, compressed } = market
  const habits = compressed === undefined ? BUSY_HABITS : CALM_HABITS
  const play = ({ desk, scale, start }: EpisodeParts): Episode => {
    const atOrAfter = scale.byTheMinute
      ? (slot: number) => minuteBlockFrom(shape, slot)
      : shape.atOrAfter
    return playEpisode({ universe, pools, desk, scale, start, atOrAfter, habits })
  }
  const cache = new LRUCache<string, Episode, EpisodeParts>({
    max: Math.max(FEWEST_CACHED, desks.length * scales.length * 3),
    memoMethod: (_key, _stale, { context }) => play(context),
  })
  const startOf = (desk: Desk, scale: Scale, slot: number): number => {
    const phase = hash32(universe.seed, 'phase', desk.index, scale.index) % scale.slots
    return Math.floor((slot - phase) / scale.slots) * scale.slots + phase
  }
  const at = (desk: Desk, scale: Scale, slot: number): Episode => {
    const start = startOf(desk, scale, slot)
    if (compressed && start < (scale.byTheMinute ? compressed.from : compressed.before)) return IDLE
    return cache.memo(episodeId(desk, scale, start), { context: { desk, scale, start } })
  }
  const change = (desk: Desk, keyId: string, slot: number, before: number): bigint =>
    scales.reduce((sum, scale) => sum + at(desk, scale, slot).relativeBefore(keyId, before), 0n)
  return {
    at,
    startOf,
    changeBefore: (desk, keyId, slot) => change(desk, keyId, slot, slot),
    changeAfter: (desk, keyId, slot) => change(desk, keyId, slot, slot + 1),
  }
}

interface EpisodeParts {
  readonly desk: Desk
  readonly scale: Scale
  readonly start: number
}

/** Cache key of the episode that begins in a slot. */
export function episodeId(desk: Desk, scale: Scale, start: number): string {
  return `${desk.index}/${scale.index}/${start}`
}
