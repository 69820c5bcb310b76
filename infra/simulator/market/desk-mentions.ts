import { LRUCache } from 'lru-cache'
import type { TransactionMention } from '../chain.ts'
import { addTo } from '../memo.ts'
import type { DeskIndex } from './desks.ts'
import type { Desk, Scale } from './episode.ts'
import { type Episodes, episodeId } from './episodes.ts'
import type { SlotOrder } from './slot-order.ts'

/** Looks up the transactions that name an account of a desk. */
export interface DeskMentions {
  /**
   * Transactions of a desk that name a key, in slots `from` down to `last`, newest first. Yields
   * null occasionally where it found nothing, so that the caller can give way to other work.
   */
  find(desk: Desk, keyId: string, from: number, last: number): Generator<TransactionMention | null>
}

/** Episodes whose index of named keys is cached, at some hundred bytes per transaction. */
const CACHED_INDEXES = 8_000

/** A transaction of an episode that names a key. */
interface Mention {
  readonly slot: number
  /** Position among the transactions of its desk and scale in the slot. */
  readonly position: number
  readonly failed: boolean
}

type KeyIndex = ReadonlyMap<string, readonly Mention[]>

/** Creates the look-up over a market's episodes. */
export function createDeskMentions(market: {
  readonly scales: readonly Scale[]
  readonly episodes: Episodes
  readonly order: SlotOrder
  readonly deskIndex: DeskIndex
}): DeskMentions {
  const { scales, episodes, order, deskIndex } = market
  const indexes = new LRUCache<string, KeyIndex, [Desk, Scale, number]>({
    max: CACHED_INDEXES,
    memoMethod: (_id, _stale, { context }) => indexKeys(episodes.at(...context).actions, deskIndex),
  })
  const indexAt = (desk: Desk, scale: Scale, start: number): KeyIndex =>
    indexes.memo(episodeId(desk, scale, start), { context: [desk, scale, start] })

  function* onScale(desk: Desk, scale: Scale, keyId: string, from: number, last: number) {
    const code = order.codeOf(desk, scale)
    for (let at = from; at >= last; ) {
      const start = episodes.startOf(desk, scale, at)
      for (const { slot, position, failed } of indexAt(desk, scale, start).get(keyId) ?? []) {
        if (slot > at) continue
        if (slot < last) return
        yield { slot, index: order.indexesOf(slot, code)[position]!, failed }
      }
      yield null
      at = start - 1
    }
  }

  return {
    find: (desk, keyId, from, last) =>
      mergeNewestFirst(scales.map((scale) => onScale(desk, scale, keyId, from, last))),
  }
}

/** The transactions of an episode by the keys of desks that they name, newest first. */
function indexKeys(actions: ReturnType<Episodes['at']>['actions'], deskIndex: DeskIndex): KeyIndex {
  const index = new Map<string, Mention[]>()
  for (const slot of [...actions.keys()].sort((a, b) => b - a)) {
    const list = actions.get(slot)!
    for (let position = list.length - 1; position >= 0; position -= 1) {
      const { draft } = list[position]!
      const mention = { slot, position, failed: draft.failure !== null }
      for (const { id } of draft.keys) {
        if (deskIndex.find(id) !== null) addTo(index, id, mention)
      }
    }
  }
  return index
}

/** Merges lists that are each ordered newest first; passes their nulls on. */
function* mergeNewestFirst(
  lists: readonly Generator<TransactionMention | null>[],
): Generator<TransactionMention | null> {
  const heads: (TransactionMention | null)[] = lists.map(() => null)
  for (;;) {
    for (const [position, list] of lists.entries()) {
      while (heads[position] === null) {
        const { value, done } = list.next()
        if (done) break
        if (value === null) yield null
        else heads[position] = value
      }
    }
    let newest: number | null = null
    for (const [position, head] of heads.entries()) {
      if (head != null && (newest === null || isNewer(head, heads[newest]!))) newest = position
    }
    if (newest === null) return
    yield heads[newest]!
    heads[newest] = null
  }
}

function isNewer(a: TransactionMention, b: TransactionMention): boolean {
  return a.slot > b.slot || (a.slot === b.slot && a.index > b.index)
}
