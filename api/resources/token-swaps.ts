import { z } from 'zod'
import { serveSwap } from '../../pipeline/domain/perturbation.ts'
import { componentSchema } from '../items/component-schema.ts'
import { count, hasMore, mint, nextCursor } from '../items/fields.ts'
import { SwapItem, swapItem } from '../items/swap.ts'
import { readNewestSwaps } from '../rows/newest-swaps.ts'
import { cursorText, integer, mintParameter, readCursor } from './parameters.ts'
import { type ResourceDeps, type ResourceDocs, resource } from './resource.ts'

const TokenSwapsAnswer = componentSchema('TokenSwapsAnswer', 'A page of the swaps on one token.', {
  mint,
  count,
  limit: count,
  has_more: hasMore,
  next_cursor: nextCursor,
  items: z.array(SwapItem).describe('Newest first'),
})
export type TokenSwapsAnswer = z.infer<typeof TokenSwapsAnswer>

const DOCS: ResourceDocs<TokenSwapsAnswer> = {
  tag: 'Tokens',
  summary: 'Swaps of tracked wallets on one token, newest first',
  description: [
    'Pages go back in time: pass `next_cursor` as `cursor` until `has_more` is false. New swaps appear only at the head of the first page, so paging skips and',
    'repeats nothing. A cursor is valid for its token only. A valid address without swaps gives an empty list.',
  ].join(' '),
  links: {
    next: {
      operationId: 'getTokensMintSwaps',
      description: 'The next, older page, while `has_more` is true',
      parameters: { mint: '$request.path.mint', cursor: '$response.body#/next_cursor' },
    },
  },
  example: {
    mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
    count: 1,
    limit: 1,
    has_more: true,
    next_cursor: 'mUkuqtcKjnOS0xqIt6vO8yZ1bqS3kWgLx0m4dHc2pQe7rTfVaA',
    items: [
      {
        block_time: 1790000000,
        wallet: 'W12',
        side: 'buy',
        base_mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
        base_amount: '123456789',
        base_decimals: 5,
        quote_mint: 'So11111111111111111111111111111111111111112',
        quote_amount: '1500000000',
        program: 'pumpswap',
        confidence: 'high',
        quote_mismatch: false,
        sol_value: 1.5,
        price_sol: 0.001215,
        symbol: 'Bonk',
      },
    ],
  },
}

/**
 * `GET /tokens/{mint}/swaps`: swaps of tracked wallets on one mint, newest first (contract 4.1).
 * Empty for a mint without swaps.
 */
export function tokenSwaps({ position, cursors, perturb, knownFacts }: ResourceDeps) {
  return resource({
    path: '/tokens/:mint/swaps',
    price: 3,
    docs: DOCS,
    params: z.object({ mint: mintParameter }),
    query: z.object({ limit: integer(1, 200, 100), cursor: cursorText }),
    answer: TokenSwapsAnswer,
    read: ({ params: { mint }, query: { limit, cursor } }, context) => ({
      mint,
      limit,
      before: readCursor(cursors, `swaps:${mint}`, cursor, context),
    }),
    mintOf: ({ mint }) => mint,
    async handle({ mint, limit, before }, { store }) {
      const stored = position.stored()
      const wasRedecoded = position.wasRedecoded()
      const of = stored && { stored: stored.slot, filter: { mint }, wasRedecoded }
      const [found, facts] = await Promise.all([
        of === null ? [] : readNewestSwaps(store, of, before, limit + 1),
        knownFacts.of(store, [mint]),
      ])
      const swaps = found.slice(0, limit)
      const last = swaps.at(-1)
      const more = found.length > limit
      const symbol = facts.get(mint)?.symbol || null
      return {
        body: {
          mint,
          count: swaps.length,
          limit,
          has_more: more,
          next_cursor: more && last !== undefined ? cursors.encode(`swaps:${mint}`, last) : null,
          items: swaps.map((swap) => swapItem(serveSwap(swap, perturb), symbol)),
        },
      }
    },
  })
}
