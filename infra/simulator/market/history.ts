import type { Mentioned } from '../chain.ts'
import { createRandom } from '../random.ts'
import type { Desk, Episode, Scale } from './episode.ts'
import type { Action } from './scene.ts'

/** Who made the transaction at a place of a slot: a desk on a scale, or a stranger. */
export type Maker =
  | { readonly kind: 'desk'; readonly desk: Desk; readonly action: Action }
  /** The n-th stranger of the slot. */
  | { readonly kind: 'stranger'; readonly number: number }

/** The market's history, looked up without building blocks. What is kept is bounded; anything else is played again. */
export interface MarketHistory {
  /** Transactions of a slot. */
  count(slot: number): number
  maker(slot: number, index: number): Maker
  /** Makers of the slot's transactions up to an index that share a desk with it, in order, with their indexes. */
  sameDesk(
    slot: number,
    index: number,
  ): readonly { readonly index: number; readonly action: Action }[]
  /**
   * Transactions of a desk that name a key, in slots `from` down to `last`, newest first; null now and then where there is nothing, so that others
   * can be given a turn.
   */
  mentions(desk: Desk, keyId: string, from: number, last: number): Generator<Mentioned | null>
}

/** Slots whose order is kept, at two bytes a transaction. */
const ORDERS_KEPT = 200_000
/** Episodes of which it is kept who is named in which transaction, some hundred bytes each transaction. */
const INDEXES_KEPT = 8_000
/** Episodes of which it is kept how many transactions each slot has: without, the order of a slot would play all desks' episodes again. */
const COUNTS_KEPT = 20_000

export function createMarketHistory(options: {
  readonly seed: number
  readonly desks: readonly Desk[]
  readonly scales: readonly Scale[]
  readonly othersPerSlot: number
  episodeAt(desk: Desk, scale: Scale, slot: number): Episode
  /** First slot of the episode that a slot is in. */
  startOf(desk: Desk, scale: Scale, slot: number): number
  /** Whether a key is a desk's wallet or one of its token accounts: these have lists. */
  isOfDesk(keyId: string): boolean
}): MarketHistory {
  const { seed, desks, scales, othersPerSlot, episodeAt, startOf, isOfDesk } = options
  const orders = new Map<number, Int16Array>()
  const indexes = new Map<string, ReadonlyMap<string, readonly Mention[]>>()
  const counts = new Map<string, ReadonlyMap<number, number>>()

  /** Transactions by slot, of the slots of an episode that have some. */
  const countsIn = (desk: Desk, scale: Scale, start: number) => {
    const id = `${desk.index}/${scale.index}/${start}`
    const kept = counts.get(id)
    if (kept !== undefined) return kept
    const made = new Map<number, number>()
    for (const [slot, list] of episodeAt(desk, scale, start).actions) made.set(slot, list.length)
    return keep(counts, COUNTS_KEPT, id, made)
  }

  /** Makers by code: desk and scale, or below zero the number of a stranger; merged in an order drawn for the slot, of one maker as they came. */
  const orderOf = (slot: number): Int16Array => {
    const kept = orders.get(slot)
    if (kept !== undefined) return kept
    const codes: number[] = []
    const first: number[] = []
    for (const desk of desks) {
      for (const scale of scales) {
        const count = countsIn(desk, scale, startOf(desk, scale, slot)).get(slot) ?? 0
        const list = scale.byTheMinute ? first : codes
        for (let i = 0; i < count; i += 1) list.push(desk.index * scales.length + scale.index)
      }
    }
    for (let i = 0; i < othersPerSlot; i += 1) codes.push(-1 - i)
    // What a compressed history shows of a block is how the whole block begins.
    const order = Int16Array.from([
      ...createRandom(seed, 'interleave first', slot).shuffle(first),
      ...createRandom(seed, 'interleave', slot).shuffle(codes),
    ])
    return keep(orders, ORDERS_KEPT, slot, order)
  }

  const actionsOf = (code: number, slot: number): readonly Action[] => {
    const desk = desks[Math.floor(code / scales.length)]!
    return episodeAt(desk, scales[code % scales.length]!, slot).actions.get(slot) ?? []
  }
  const deskOf = (code: number) => (code < 0 ? -1 : Math.floor(code / scales.length))

  const placesOf = (slot: number, code: number): number[] => {
    const places: number[] = []
    orderOf(slot).forEach((found, index) => {
      if (found === code) places.push(index)
    })
    return places
  }

  /** What an episode's transactions name, by key, the newest first. */
  const mentionsIn = (desk: Desk, scale: Scale, start: number) => {
    const id = `${desk.index}/${scale.index}/${start}`
    const kept = indexes.get(id)
    if (kept !== undefined) return kept
    const made = new Map<string, Mention[]>()
    const { actions } = episodeAt(desk, scale, start)
    for (const slot of [...actions.keys()].sort((a, b) => b - a)) {
      const list = actions.get(slot)!
      for (let position = list.length - 1; position >= 0; position -= 1) {
        const { draft } = list[position]!
        const mention = { slot, position, failed: draft.failure !== null }
        for (const { id } of draft.keys) {
          if (!isOfDesk(id)) continue
          const known = made.get(id)
          if (known === undefined) made.set(id, [mention])
          else known.push(mention)
        }
      }
    }
    return keep(indexes, INDEXES_KEPT, id, made)
  }

  function* onScale(desk: Desk, scale: Scale, id: string, from: number, last: number) {
    const code = desk.index * scales.length + scale.index
    for (let at = from; at >= last; ) {
      const start = startOf(desk, scale, at)
      for (const { slot, position, failed } of mentionsIn(desk, scale, start).get(id) ?? []) {
        if (slot > at) continue
        if (slot < last) return
        yield { slot, index: placesOf(slot, code)[position]!, failed }
      }
      yield null
      at = start - 1
    }
  }

  return {
    count: (slot) => orderOf(slot).length,
    maker(slot, index) {
      const order = orderOf(slot)
      const code = order[index]!
      if (code < 0) return { kind: 'stranger', number: -1 - code }
      const position = placesOf(slot, code).indexOf(index)
      const desk = desks[deskOf(code)]!
      return { kind: 'desk', desk, action: actionsOf(code, slot)[position]! }
    },
    sameDesk(slot, index) {
      const order = orderOf(slot)
      const next = new Map<number, number>()
      const found: { index: number; action: Action }[] = []
      for (let at = 0; at <= index; at += 1) {
        const code = order[at]!
        if (deskOf(code) !== deskOf(order[index]!)) continue
        const position = next.get(code) ?? 0
        next.set(code, position + 1)
        found.push({ index: at, action: actionsOf(code, slot)[position]! })
      }
      return found
    },
    *mentions(desk, id, from, last) {
      const walks = scales.map((scale) => ({
        walk: onScale(desk, scale, id, from, last),
        head: null as Mentioned | null,
        ended: false,
      }))
      for (;;) {
        for (const each of walks) {
          while (each.head === null && !each.ended) {
            const { value, done } = each.walk.next()
            if (done) each.ended = true
            else if (value === null) yield null
            else each.head = value
          }
        }
        const heads = walks.flatMap((each) => (each.head === null ? [] : [each]))
        const first = heads.reduce<(typeof heads)[number] | null>(
          (best, each) => (best === null || isNewer(each.head!, best.head!) ? each : best),
          null,
        )
        if (first === null) return
        yield first.head
        first.head = null
      }
    },
  }
}

interface Mention {
  readonly slot: number
  /** Among the actions of its desk and scale in the slot. */
  readonly position: number
  readonly failed: boolean
}

function isNewer(a: Mentioned, b: Mentioned): boolean {
  return a.slot > b.slot || (a.slot === b.slot && a.index > b.index)
}

/** Keeps a value, and forgets the oldest one where there are as many already. Gives the value. */
function keep<K, V>(kept: Map<K, V>, most: number, key: K, value: V): V {
  if (kept.size >= most) kept.delete(kept.keys().next().value!)
  kept.set(key, value)
  return value
}
