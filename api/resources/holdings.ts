import { z } from 'zod'
import { componentSchema } from '../items/component-schema.ts'
import { alias, count, hasMore, seconds } from '../items/fields.ts'
import { HoldingItem, holdingItem } from '../items/holding.ts'
import {
  integer,
  LARGEST,
  optionalAlias,
  optionalInteger,
  page,
  trackedWallet,
} from './parameters.ts'
import { type ResourceDeps, type ResourceDocs, resource } from './resource.ts'

const PAGE_SIZE = 100 as const

const HoldingsAnswer = componentSchema('HoldingsAnswer', 'A page of holdings of tracked wallets.', {
  alias: alias.nullable().describe('The filter `alias`; null for all tracked wallets'),
  min_holding_seconds: seconds,
  max_holding_seconds: seconds.nullable(),
  page: count,
  page_size: z.literal(PAGE_SIZE),
  total: count.describe('Holdings on all pages'),
  has_more: hasMore,
  items: z.array(HoldingItem).meta({
    description: 'By `last_activity_at` descending, then token address, then alias number',
  }),
})
export type HoldingsAnswer = z.infer<typeof HoldingsAnswer>

const DOCS: ResourceDocs<HoldingsAnswer> = {
  tag: 'Wallets',
  summary: 'Holdings of tracked wallets',
  description:
    'Tokens that one wallet (`alias`) or all wallets hold now, filtered by age; bounds are inclusive. Only swaps count, not transfers. 100 a page.',
  problems: ['wallet_not_found'],
  example: {
    alias: null,
    min_holding_seconds: 3600,
    max_holding_seconds: null,
    page: 1,
    page_size: 100,
    total: 1,
    has_more: false,
    items: [
      {
        wallet: 'W12',
        token: { address: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263', decimals: 5 },
        position: {
          sol_bought: 3.2,
          sol_sold: 1.1,
          tokens_acquired: 10,
          tokens_sold: 2.5,
          tokens_held: 7.5,
          pct_held: 0.75,
        },
        timing: {
          first_activity_at: 1790000000,
          last_activity_at: 1790003600,
          holding_time: 86400,
        },
      },
    ],
  },
}

/**
 * `GET /wallets/holdings`: holdings of one tracked wallet or of all, counting swaps only, filtered
 * by age (contract 4.2, rules C14, C17). Ages end at the newest stored block (rule C22).
 */
export function holdings({ position, openPositions }: ResourceDeps) {
  return resource({
    path: '/wallets/holdings',
    price: 1,
    docs: DOCS,
    query: z
      .object({
        alias: optionalAlias.describe('Alias of a tracked wallet; all wallets if omitted'),
        min_holding_seconds: integer(0, LARGEST, 0).meta({
          description: 'Only positions held at least this many seconds',
        }),
        max_holding_seconds: optionalInteger(0, LARGEST).meta({
          description: 'Only positions held at most this many seconds',
        }),
        page,
      })
      .refine(
        ({ min_holding_seconds, max_holding_seconds }) =>
          max_holding_seconds === null || max_holding_seconds >= min_holding_seconds,
        { path: ['max_holding_seconds'], error: 'expected min_holding_seconds or more' },
      ),
    answer: HoldingsAnswer,
    isHot: () => true,
    async handle({ query }) {
      const { alias, min_holding_seconds, max_holding_seconds, page } = query
      const wallet = alias === null ? null : trackedWallet(alias, position.walletCount())
      const offset = (page - 1) * PAGE_SIZE
      const filter = { wallet, minSeconds: min_holding_seconds, maxSeconds: max_holding_seconds }
      const of = { offset, limit: PAGE_SIZE }
      const stored = position.stored()
      const { rows, total } =
        stored === null
          ? { rows: [], total: 0 }
          : openPositions.holdings(stored.blockTime, filter, of)
      return {
        body: {
          alias,
          min_holding_seconds,
          max_holding_seconds,
          page,
          page_size: PAGE_SIZE,
          total,
          has_more: offset + rows.length < total && rows.length > 0,
          items: rows.map((row) => holdingItem(row, stored?.blockTime ?? 0)),
        },
      }
    },
  })
}
