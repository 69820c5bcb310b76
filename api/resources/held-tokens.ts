import { z } from 'zod'
import { count, hasMore } from '../items/fields.ts'
import { HeldTokenItem, heldTokenItem } from '../items/held-token.ts'
import { integer, page } from './parameters.ts'
import { type ResourceDeps, type ResourceDocs, resource } from './resource.ts'

const PAGE_SIZE = 25 as const

const HeldTokensAnswer = z
  .strictObject({
    min_wallets: count,
    page: count,
    page_size: z.literal(PAGE_SIZE),
    total: count.describe('Tokens on all pages'),
    has_more: hasMore,
    items: z.array(HeldTokenItem).meta({
      description: 'By `wallet_count` descending, then `sol_invested` descending, then address',
    }),
  })
  .meta({ id: 'HeldTokensAnswer', description: 'A page of the tokens held by several wallets.' })
export type HeldTokensAnswer = z.infer<typeof HeldTokensAnswer>

const DOCS: ResourceDocs<HeldTokensAnswer> = {
  tag: 'Tokens',
  summary: 'Tokens held by several tracked wallets',
  description:
    'A wallet holds a token if it bought more than it sold. Only swaps count, not transfers. 25 a page.',
  links: {
    aggregates: {
      operationId: 'getTokensMintWalletAggregates',
      description: 'Aggregates per wallet of the first token',
      parameters: { mint: '$response.body#/items/0/token/address' },
    },
  },
  example: {
    min_wallets: 2,
    page: 1,
    page_size: 25,
    total: 1,
    has_more: false,
    items: [
      {
        token: { address: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263', decimals: 5 },
        holders: { wallet_count: 2, wallets: ['W3', 'W12'] },
        aggregate: { tokens_held: 1234.5, sol_invested: 6.25 },
      },
    ],
  },
}

/**
 * `GET /tokens/held`: tokens that several tracked wallets hold now, counting swaps only (contract
 * 4.1, rules C14, C17).
 */
export function heldTokens({ position, openPositions }: ResourceDeps) {
  return resource({
    path: '/tokens/held',
    price: 3,
    docs: DOCS,
    query: z.object({
      min_wallets: integer(1, 10_000, 2).describe('Only tokens held by at least this many wallets'),
      page,
    }),
    answer: HeldTokensAnswer,
    isHot: () => true,
    async handle({ query: { min_wallets, page } }) {
      const offset = (page - 1) * PAGE_SIZE
      const of = { minWallets: min_wallets, offset, limit: PAGE_SIZE }
      const { rows, total } =
        position.stored() === null ? { rows: [], total: 0 } : openPositions.held(of)
      return {
        body: {
          min_wallets,
          page,
          page_size: PAGE_SIZE,
          total,
          has_more: offset + rows.length < total && rows.length > 0,
          items: rows.map(heldTokenItem),
        },
      }
    },
  })
}
