import { z } from 'zod'
import { count, hasMore, mint, nextCursor } from '../items/fields.ts'
import { SwapItem, swapItem } from '../items/swap.ts'
import { readNewestSwaps } from '../rows/newest-swaps.ts'
import { cursorText, integer, mintParameter, readCursor } from './parameters.ts'
import { type ResourceDeps, resource } from './resource.ts'

const TokenSwapsAnswer = z
  .strictObject({
    mint,
    count,
    limit: count,
    has_more: hasMore,
    next_cursor: nextCursor,
    items: z.array(SwapItem).meta({ description: 'Newest first' }),
  })
  .meta({ id: 'TokenSwapsAnswer', description: 'A page of the swaps on one token.' })

/** `GET /tokens/{mint}/swaps`: swaps of tracked wallets on one mint, newest first (contract 4.1). A mint nobody traded has none. */
export function tokenSwaps({ store, position, cursors }: ResourceDeps) {
  return resource({
    path: '/tokens/:mint/swaps',
    price: 3,
    params: z.object({ mint: mintParameter }),
    query: z.object({ limit: integer(1, 200, 100), cursor: cursorText }),
    answer: TokenSwapsAnswer,
    read: ({ params: { mint }, query: { limit, cursor } }, context) => ({
      mint,
      limit,
      before: readCursor(cursors, `swaps:${mint}`, cursor, context),
    }),
    async handle({ mint, limit, before }) {
      const stored = position.stored()
      const found =
        stored === null ? [] : await readNewestSwaps(store, stored.slot, before, limit + 1, mint)
      const swaps = found.slice(0, limit)
      const last = swaps.at(-1)
      const more = found.length > limit
      return {
        body: {
          mint,
          count: swaps.length,
          limit,
          has_more: more,
          next_cursor: more && last !== undefined ? cursors.encode(`swaps:${mint}`, last) : null,
          items: swaps.map(swapItem),
        },
      }
    },
  })
}
