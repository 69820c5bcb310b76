import { z } from 'zod'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import { serveSwap } from '../../pipeline/domain/perturbation.ts'
import type { LateMark } from '../../pipeline/log/late-order.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { SwapFilter } from '../../pipeline/store/tables/swaps.ts'
import { BEGINNING, type CursorScope, hasCome, lateBefore } from '../cursor.ts'
import { componentSchema } from '../items/component-schema.ts'
import { count, hasMore, nextCursor } from '../items/fields.ts'
import { EXAMPLE_TRADE, TradeItem, tradeItem } from '../items/trade.ts'
import { type FilteredPage, readFilteredSwaps, settledSwaps } from '../rows/filtered-swaps.ts'
import { readSwapsPage, type SwapsPage } from '../rows/recent-swaps.ts'
import {
  cursorText,
  integer,
  optionalAlias,
  optionalChoice,
  optionalMint,
  optionalTime,
  readCursor,
  requireOrder,
  trackedWallet,
} from './parameters.ts'
import { type ResourceDeps, type ResourceDocs, resource } from './resource.ts'

export const TradesAnswer = componentSchema('TradesAnswer', 'A page of trades.', {
  count,
  limit: count,
  has_more: hasMore,
  next_cursor: nextCursor,
  items: z.array(TradeItem).describe('Newest first'),
})
export type TradesAnswer = z.infer<typeof TradesAnswer>

const DOCS: ResourceDocs<TradesAnswer> = {
  problems: ['wallet_not_found'],
  tag: 'Trades',
  summary: 'Trades of all tracked wallets, newest first',
  description: [
    'Pages go back in time: pass `next_cursor` as `cursor` until `has_more` is false. New trades appear only at the head of the first page, so paging skips and',
    'repeats nothing. A late trade is inserted at its time of trade; paging that has already passed this place does not show it.',
    'To continue live, subscribe to the feed with `after` set to `X-Head-Cursor`.',
    'With `wallet`, `mint`, `side`, `from` and `to` only trades are listed for which all of them hold; a cursor is a position among all trades, and `X-Head-Cursor` that of all.',
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
 * `GET /trades`: trades of all tracked wallets, newest first (contract 4.3), filtered on request
 * (rule L4). Pages follow the event key, so paging skips and repeats nothing while trades arrive.
 * `X-Head-Cursor` is the position of the newest stored trade, from which a client can continue on
 * the feed (rule D4).
 */
export function trades(deps: ResourceDeps) {
  const { position, recentSwaps, cursors, epoch, perturb } = deps
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

  /** A page of trades that match, and the head of all trades. */
  async function readFiltered(
    store: Store,
    filter: SwapFilter,
    before: EventKey | null,
    limit: number,
  ): Promise<FilteredPage & { readonly head: SwapsPage }> {
    const head = await readPage(store, null, 1)
    const of = { stored: head.slot, filter, wasRedecoded: position.wasRedecoded(), epoch, perturb }
    return { head, ...(await readFilteredSwaps(store, of, before, limit)) }
  }

  async function readAll(
    store: Store,
    before: EventKey | null,
    limit: number,
  ): Promise<FilteredPage & { readonly head: SwapsPage }> {
    const head = await readPage(store, before, limit + 1)
    const { swaps, late } = head
    const hasMore = swaps.length > limit
    return { head, swaps: swaps.slice(0, limit), hasMore, unsettled: late.unsettled }
  }

  return resource({
    path: '/trades',
    price: 3,
    docs: DOCS,
    query: z.object({
      limit: integer(1, 100, 25),
      cursor: cursorText,
      wallet: optionalAlias.describe('Alias of a tracked wallet'),
      mint: optionalMint.describe('Address of the traded token'),
      side: optionalChoice(['buy', 'sell']).describe('What the wallet did with the token'),
      from: optionalTime.describe('Trades at or after this unix second'),
      to: optionalTime.describe('Trades before this unix second'),
    }),
    answer: TradesAnswer,
    read({ query: { limit, cursor, ...filter } }, context) {
      requireOrder(filter, context)
      return { limit, before: readCursor(cursors, 'trades', cursor, context), ...filter }
    },
    isHot: () => true,
    async handle({ limit, before, wallet: alias, ...others }, { store }) {
      const wallet = alias === null ? null : trackedWallet(alias, position.walletCount())
      const filter: SwapFilter = { wallet, ...others }
      const isAll = Object.values(filter).every((value) => value === null)
      const found = isAll
        ? await readAll(store, before, limit)
        : await readFiltered(store, filter, before, limit)
      const { slot, newest, late } = found.head
      return {
        headers: { 'X-Head-Cursor': headCursor(newest ?? BEGINNING, late.newest, slot) },
        body: await tradesBody(found, limit, { ...deps, store, scope: 'trades' }),
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

/** Renders a page of trades, whose cursor has the scope. */
export async function tradesBody(
  page: FilteredPage,
  limit: number,
  of: Pick<ResourceDeps, 'store' | 'cursors' | 'perturb' | 'knownFacts'> & {
    readonly scope: CursorScope
  },
): Promise<TradesAnswer> {
  const { store, cursors, perturb, knownFacts, scope } = of
  // Unsettled late swaps are still to come on the feed, so the page leaves them out (rule F4).
  const swaps = settledSwaps(page)
  const facts = await knownFacts.of(
    store,
    swaps.map(({ baseMint }) => baseMint),
  )
  const last = page.swaps.at(-1)
  return {
    count: swaps.length,
    limit,
    has_more: page.hasMore,
    next_cursor: page.hasMore && last !== undefined ? cursors.encode(scope, last) : null,
    items: swaps.map((swap) => {
      const symbol = facts.get(swap.baseMint)?.symbol || null
      return tradeItem(serveSwap(swap, perturb), symbol)
    }),
  }
}

/** The page before the first marker. */
const NOTHING: SwapsPage = {
  swaps: [],
  slot: 0,
  newest: null,
  late: { unsettled: new Set(), newest: null },
}
