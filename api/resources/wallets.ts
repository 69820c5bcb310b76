import { z } from 'zod'
import { EMPTY_METRICS } from '../../pipeline/store/tables/wallet-metrics.ts'
import { componentSchema } from '../items/component-schema.ts'
import { count, hasMore } from '../items/fields.ts'
import { EXAMPLE_WALLET, WalletMetricsItem, walletMetricsItem } from '../items/wallet-metrics.ts'
import { page } from './parameters.ts'
import { type ResourceDeps, resource } from './resource.ts'

const PAGE_SIZE = 25 as const

const WalletsAnswer = componentSchema('WalletsAnswer', 'A page of the tracked wallets.', {
  page: count,
  page_size: z.literal(PAGE_SIZE),
  total: count.describe('Tracked wallets'),
  has_more: hasMore,
  items: z.array(WalletMetricsItem).describe('W1 to Wn'),
})
export type WalletsAnswer = z.infer<typeof WalletsAnswer>

/**
 * `GET /wallets`: all tracked wallets with their metrics, W1 to Wn (contract 4.2), including
 * wallets without events (rule C21).
 */
export function wallets({ metricsOf, position }: ResourceDeps) {
  return resource({
    path: '/wallets',
    price: 1,
    docs: {
      tag: 'Wallets',
      summary: 'All tracked wallets with their metrics',
      description: 'W1 to Wn, 25 a page. Wallets without events are included.',
      links: {
        metrics: {
          operationId: 'getWalletsAliasMetrics',
          description: 'The first wallet',
          parameters: { alias: '$response.body#/items/0/identity/wallet' },
        },
        holdings: {
          operationId: 'getWalletsAliasHoldings',
          description: 'Holdings of the first wallet',
          parameters: { alias: '$response.body#/items/0/identity/wallet' },
        },
      },
      example: { page: 1, page_size: 25, total: 1, has_more: false, items: [EXAMPLE_WALLET] },
    },
    query: z.object({ page }),
    answer: WalletsAnswer,
    isHot: () => true,
    async handle({ query: { page } }) {
      const total = position.walletCount()
      const from = (page - 1) * PAGE_SIZE + 1
      const to = Math.min(total, from + PAGE_SIZE - 1)
      const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
      return {
        body: {
          page,
          page_size: PAGE_SIZE,
          total,
          has_more: to < total && to >= from,
          items: numbers.map((number) =>
            walletMetricsItem(metricsOf(number) ?? { ...EMPTY_METRICS, wallet: number }),
          ),
        },
      }
    },
  })
}
