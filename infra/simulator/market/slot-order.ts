import { LRUCache } from 'lru-cache'
import { createRandom } from '../random.ts'
import type { Desk, Scale } from './episode.ts'
import { type Episodes, episodeId } from './episodes.ts'
import type { MarketAction } from './scene.ts'

/**
 * Who makes a transaction, as a number: `desk.index * scales + scale.index`, or `-1 - n` for the
 * n-th untracked wallet of the slot.
 */
export type MakerCode = number

/** The order of the transactions within each slot. */
export interface SlotOrder {
  /** The makers of a slot's transactions, by index. */
  of(slot: number): Int16Array
  /** Indexes of a maker's transactions in a slot, in order. */
  indexesOf(slot: number, code: MakerCode): number[]
  codeOf(desk: Desk, scale: Scale): MakerCode
  /** The desk of a maker; undefined for an untracked wallet. */
  deskOf(code: MakerCode): Desk | undefined
  /** Actions of a desk in a slot on one scale, in order. */
  actionsOf(code: MakerCode, slot: number): readonly MarketAction[]
}

/** Slots whose order is cached, at two bytes per transaction. */
const CACHED_ORDERS = 200_000
/**
 * Episodes whose number of transactions by slot is cached. Without it, the order of one slot would
 * play the episodes of all desks again.
 */
const CACHED_COUNTS = 20_000

/** Creates the order of a market's slots: a function of the seed and the slot alone. */
export function createSlotOrder(market: {
  readonly seed: number
  readonly desks: readonly Desk[]
  readonly scales: readonly Scale[]
  readonly othersPerSlot: number
  readonly episodes: Episodes
}): SlotOrder {
  const { seed, desks, scales, othersPerSlot, episodes } = market
  const counts = new LRUCache<string, ReadonlyMap<number, number>, [Desk, Scale, number]>({
    max: CACHED_COUNTS,
    memoMethod: (_id, _stale, { context }) =>
      new Map([...episodes.at(...context).actions].map(([at, list]) => [at, list.length])),
  })
  const countAt = (desk: Desk, scale: Scale, slot: number): number => {
    const id = episodeId(desk, scale, episodes.startOf(desk, scale, slot))
    return counts.memo(id, { context: [desk, scale, slot] }).get(slot) ?? 0
  }

  const codeOf = (desk: Desk, scale: Scale) => desk.index * scales.length + scale.index
  const deskOf = (code: MakerCode) =>
    code < 0 ? undefined : desks[Math.floor(code / scales.length)]

  /** The codes of a slot's makers on scales that are in compressed blocks, or of all others. */
  const codesAt = (slot: number, byTheMinute: boolean): MakerCode[] => {
    const codes: MakerCode[] = []
    const some = scales.filter((scale) => scale.byTheMinute === byTheMinute)
    for (const desk of desks)
      for (const scale of some)
        for (let n = countAt(desk, scale, slot); n > 0; n -= 1) codes.push(codeOf(desk, scale))
    return codes
  }
  const untracked = Array.from({ length: Math.ceil(othersPerSlot) }, (_, i): MakerCode => -1 - i)
  // A block of the compressed history is the beginning of the same block in a whole history.
  const draw = (slot: number): Int16Array =>
    Int16Array.from([
      ...createRandom(seed, 'interleave first', slot).shuffle(codesAt(slot, true)),
      ...createRandom(seed, 'interleave', slot).shuffle([...codesAt(slot, false), ...untracked]),
    ])
  const orders = new LRUCache<number, Int16Array>({ max: CACHED_ORDERS, memoMethod: draw })

  return {
    of: (slot) => orders.memo(slot),
    indexesOf(slot, code) {
      const indexes: number[] = []
      orders.memo(slot).forEach((found, index) => {
        if (found === code) indexes.push(index)
      })
      return indexes
    },
    codeOf,
    deskOf,
    actionsOf(code, slot) {
      const scale = scales[code % scales.length]!
      return episodes.at(deskOf(code)!, scale, slot).actions.get(slot) ?? []
    },
  }
}
