import { z } from 'zod'
import { EMPTY_METRICS } from '../../pipeline/store/tables/wallet-metrics.ts'
import { componentSchema } from '../items/component-schema.ts'
import { count, hasMore, sol, time } from '../items/fields.ts'
import { EXAMPLE_WALLET, WalletMetricsItem, walletMetricsItem } from '../items/wallet-metrics.ts'
import { MODES, ORDERS, PERIODS, type RankedList, SORTS, STATUSES } from '../rows/leaderboard.ts'
import { optionalChoice, optionalInteger, page } from './parameters.ts'
import { type ResourceDeps, resource } from './resource.ts'

const PAGE_SIZE = 25 as const

const PeriodItem = z.strictObject({
  pnl_sol: sol.describe('Realised FIFO profit of the sells of the period, whenever they bought'),
  winrate: z.number().min(0).max(100).nullable().meta({
    description:
      'Percent (0 to 100) of tokens with realised profit above zero in the period, among tokens with a sell of known value in it; null if there is none',
  }),
  trades: count.describe('Swaps of the period'),
  volume_sol: sol.min(0).describe('What the swaps of the period were worth'),
  rank: z.int().min(1).describe('Place in this list, from 1'),
})

const WalletItem = WalletMetricsItem.extend({
  period: PeriodItem.optional().describe('Figures of the period; only in a sorted list'),
}).meta({
  id: 'RankedWallet',
  description: 'A tracked wallet with its metrics, and in a sorted list those of the period.',
})

const WalletsAnswer = componentSchema('WalletsAnswer', 'A page of the tracked wallets.', {
  page: count,
  page_size: z.literal(PAGE_SIZE),
  total: count.describe('Wallets on all pages'),
  has_more: hasMore,
  as_of: time
    .nullable()
    .optional()
    .describe(
      'Full hour at which the period ends, unix seconds; null while history is still being fetched: such an answer has no items and costs nothing. Only in a sorted list',
    ),
  items: z.array(WalletItem).describe('W1 to Wn, or in the order of `sort`'),
})
export type WalletsAnswer = z.infer<typeof WalletsAnswer>

const query = z.object({
  page,
  sort: optionalChoice(SORTS).describe(
    'Figure by which wallets are sorted, those without it last; by default `score`, or `pnl` in a period of `7d` or `30d`, which has no score',
  ),
  order: optionalChoice(ORDERS).describe('`desc` by default'),
  status: optionalChoice(STATUSES).describe('Only wallets with this status'),
  min_trades: optionalInteger(0, 1_000_000).describe(
    'Only wallets with so many swaps in the period; 0 by default',
  ),
  period: optionalChoice(PERIODS).describe('Period that ends with the last full hour; `all`'),
  mode: optionalChoice(MODES).describe(
    '`raw` by default; `strict`: profit by swaps alone, so that tokens received by transfer make none',
  ),
})

/** Returns the list that a query asks for; null without any parameter of a list (rule L10). */
function rankedList(asked: z.output<typeof query>): RankedList | null {
  const { page: _, ...parameters } = asked
  if (Object.values(parameters).every((value) => value === null)) return null
  const period = asked.period ?? 'all'
  return {
    sort: asked.sort ?? (period === 'all' ? 'score' : 'pnl'),
    order: asked.order ?? 'desc',
    status: asked.status,
    minTrades: asked.min_trades ?? 0,
    period,
    mode: asked.mode ?? 'raw',
  }
}

/**
 * `GET /wallets`: all tracked wallets with their metrics, W1 to Wn (contract 4.2), including
 * wallets without events (rule C21). With parameters of a list: sorted by a figure of a period
 * (rule L10).
 */
export function wallets({ metricsOf, position, leaderboard }: ResourceDeps) {
  const itemOf = (wallet: number) =>
    walletMetricsItem(metricsOf(wallet) ?? { ...EMPTY_METRICS, wallet })
  return resource({
    path: '/wallets',
    price: 1,
    docs: {
      tag: 'Wallets',
      summary: 'All tracked wallets with their metrics, or a leaderboard',
      description:
        'W1 to Wn, 25 a page. Wallets without events are included. With any of the other parameters the list is sorted, and each wallet has its figures of the period. These are read once an hour, so all pages of an hour agree.',
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
    query,
    answer: WalletsAnswer,
    read({ query }, context) {
      const list = rankedList(query)
      if (list?.sort === 'score' && list.period !== 'all')
        context.addIssue({
          code: 'custom',
          path: ['query', 'sort'],
          message:
            'expected another sort than `score` with a period of `7d` or `30d`, which has no score',
        })
      return { page: query.page, list }
    },
    isHot: () => true,
    async handle({ page, list }) {
      const offset = (page - 1) * PAGE_SIZE
      if (list === null) {
        const total = position.walletCount()
        const last = Math.min(total, offset + PAGE_SIZE)
        const length = Math.max(0, last - offset)
        return {
          body: {
            page,
            page_size: PAGE_SIZE,
            total,
            has_more: last < total && length > 0,
            items: Array.from({ length }, (_, at) => itemOf(offset + at + 1)),
          },
        }
      }
      const { asOf, total, rows } = await leaderboard.page(list, offset, PAGE_SIZE)
      return {
        ...(asOf === null && { isFree: true as const }),
        body: {
          page,
          page_size: PAGE_SIZE,
          total,
          has_more: offset + rows.length < total && rows.length > 0,
          as_of: asOf,
          items: rows.map(({ wallet, rank, pnlSol, winrate, trades, volumeSol }) => ({
            ...itemOf(wallet),
            period: { pnl_sol: pnlSol, winrate, trades, volume_sol: volumeSol, rank },
          })),
        },
      }
    },
  })
}
