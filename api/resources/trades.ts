import { z } from 'zod'
import { type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import { serveSwap } from '../../pipeline/domain/perturbation.ts'
import type { LateMark } from '../../pipeline/log/late-order.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { BEGINNING, hasCome, lateBefore } from '../cursor.ts'
import { componentSchema } from '../items/component-schema.ts'
import { count, hasMore, nextCursor } from '../items/fields.ts'
import { EXAMPLE_TRADE, TradeItem, tradeItem } from '../items/trade.ts'
import { readSwapsPage, type SwapsPage } from '../rows/recent-swaps.ts'
import { cursorText, integer, readCursor } from './parameters.ts'
import { type ResourceDeps, type ResourceDocs, resource } from './resource.ts'

const TradesAnswer = componentSchema('TradesAnswer', 'A page of trades.', {
  count,
  limit: count,
  has_more: hasMore,
  next_cursor: nextCursor,
  items: z.array(TradeItem).describe('Newest first'),
})
export type TradesAnswer = z.infer<typeof TradesAnswer>

const DOCS: ResourceDocs<TradesAnswer> = {
  tag: 'Trades',
  summary: 'Trades of all tracked wallets, newest first',
  description: [
    'Pages go back in time: pass `next_cursor` as `cursor` until `has_more` is false. New trades appear only at the head of the first page, so paging skips and',
    'repeats nothing. A late trade is inserted at its time of trade; paging that has already passed this place does not show it.',
    'To continue live, subscribe to the feed with `after` set to `X-Head-Cursor`.',
  ].join(' '),
  headers: {
    'X-Head-Cursor': 'Position of the newest stored trade; `after` of the feed accepts it',
  },
  links: {
    next: {
      operationId: 'getTrades',
      description: 'The next, older page, while `has_more` is true',
      parameters: { cursor: '$response.body#/next_cursor' },
    },
    swaps: {
      operationId: 'getTokensMintSwaps',
      description: 'Swaps of the token of the first trade',
      parameters: { mint: '$response.body#/items/0/mint' },
    },
  },
  example: {
    count: 1,
    limit: 1,
    has_more: true,
    next_cursor: 'mUkuqtcKjnOS0xqIt6vO8yZ1bqS3kWgLx0m4dHc2pQe7rTfVaA',
    items: [EXAMPLE_TRADE],
  },
}

/**
 * `GET /trades`: trades of all tracked wallets, newest first (contract 4.3). Pages follow the event
 * key, so paging skips and repeats nothing while trades arrive. `X-Head-Cursor` is the position of
 * the newest stored trade, from which a client can continue on the feed (rule D4).
 */
export function trades({ position, recentSwaps, cursors, epoch, perturb }: ResourceDeps) {
  async function readPage(
    store: Store,
    before: EventKey | null,
    limit: number,
  ): Promise<SwapsPage> {
    const stored = position.stored()
    if (stored === null) return NOTHING
    return (
      recentSwaps.page(before, limit) ??
      (await readSwapsPage(store, { slot: stored.slot, epoch }, before, limit))
    )
  }

  return resource({
    path: '/trades',
    price: 3,
    docs: DOCS,
    query: z.object({ limit: integer(1, 100, 25), cursor: cursorText }),
    answer: TradesAnswer,
    read: ({ query: { limit, cursor } }, context) => ({
      limit,
      before: readCursor(cursors, 'trades', cursor, context),
    }),
    isHot: () => true,
    async handle({ limit, before }, { store }) {
      const { swaps: found, slot, newest, late } = await readPage(store, before, limit + 1)
      const page = found.slice(0, limit)
      // Unsettled late swaps are still to come on the feed, so the page leaves them out (rule F4).
      const swaps = page.filter((swap) => !late.unsettled.has(eventKeyText(swap)))
      const more = found.length > limit
      const last = page.at(-1)
      return {
        headers: { 'X-Head-Cursor': headCursor(newest ?? BEGINNING, late.newest, slot) },
        body: {
          count: swaps.length,
          limit,
          has_more: more,
          next_cursor: more && last !== undefined ? cursors.encode('trades', last) : null,
          items: swaps.map((swap) => tradeItem(serveSwap(swap, perturb))),
        },
      }
    },
  })

  /**
   * Returns the position of a client that has read this page and all older ones (rule F4): up to
   * the newest trade, and up to the late trades that are completely stored.
   */
  function headCursor(head: EventKey, newestLate: LateMark | null, slot: number): string {
    const settled = lateBefore(epoch, slot)
    // Equal to the id of this trade on the feed, unless a late trade followed it.
    const live = lateBefore(epoch, head.slot)
    const isSame = newestLate === null || hasCome(newestLate, live)
    return cursors.encode('trades', head, isSame ? live : settled)
  }
}

/** The page before the first marker. */
const NOTHING: SwapsPage = {
  swaps: [],
  slot: 0,
  newest: null,
  late: { unsettled: new Set(), newest: null },
}
