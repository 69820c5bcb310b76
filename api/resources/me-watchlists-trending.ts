import { z } from 'zod'
import type { Store } from '../../pipeline/store/store.ts'
import { componentSchema } from '../items/component-schema.ts'
import { EXAMPLE_WATCHLIST_ITEM, WatchlistItem, watchlistItem } from '../items/watchlist.ts'
import { createWatchlistReader } from '../rows/watchlist-reader.ts'
import { dashboardResource } from './resource.ts'

const TrendingAnswer = componentSchema('TrendingAnswer', 'The trending watchlist.', {
  items: z.array(WatchlistItem).describe('By `conviction` descending, then token'),
})

/**
 * `GET /me/watchlists/trending`: the tokens on the trending watchlist, as of the newest tick
 * (contract 4.4, rules of section G).
 */
export function meWatchlistsTrending({
  store,
  now,
}: {
  readonly store: Store
  readonly now: () => number
}) {
  const read = createWatchlistReader(store, now)
  return dashboardResource({
    path: '/me/watchlists/trending',
    needsPro: true,
    docs: {
      tag: 'Pro',
      summary: 'The trending watchlist',
      description: [
        'Tokens that several tracked wallets trade. A token enters the list when two wallets hold it. It leaves when no wallet holds it, or after 24 hours without a trade of a tracked wallet.',
        'Computed at every block time divisible by 10, once everything up to it is stored; ages end there. Holders are counted by swaps only; `sol_held` is the cost of their open lots.',
        'Figures that need a market cap are null until the supply of the token and the price of SOL are known.',
      ].join(' '),
      problems: ['unavailable'],
      example: { items: [EXAMPLE_WATCHLIST_ITEM] },
    },
    answer: TrendingAnswer,
    async handle() {
      const { at, rows } = await read()
      return { body: { items: rows.map((row) => watchlistItem(row, at ?? 0)) } }
    },
  })
}
