import { z } from 'zod'
import type { Store } from '../../pipeline/store/store.ts'
import { EXAMPLE_WATCHLIST_ITEM, WatchlistItem, watchlistItem } from '../items/watchlist.ts'
import { createWatchlistReader } from '../rows/watchlist-reader.ts'
import { NONE } from './parameters.ts'
import { dashboardResource } from './resource.ts'

const TrendingAnswer = z
  .strictObject({
    items: z.array(WatchlistItem).meta({ description: 'By `conviction` descending, then token' }),
  })
  .meta({ id: 'TrendingAnswer', description: 'The trending watchlist.' })

/**
 * `GET /me/watchlists/trending`: the tokens that the trending engine lists, as of its newest tick
 * (contract 4.4, rules of section G).
 */
export function meWatchlistsTrending({ store }: { readonly store: Store }) {
  const read = createWatchlistReader(store)
  return dashboardResource({
    path: '/me/watchlists/trending',
    needsPro: true,
    docs: {
      tag: 'Pro',
      summary: 'The trending watchlist',
      description: [
        'Tokens that several tracked wallets trade: one enters when two wallets hold it and leaves when none does, or after 24 hours without a tracked trade.',
        'Computed anew for each block time divisible by 10, once everything up to it is stored; ages end there. Holders are counted by their swaps; `sol_held` is what their open lots cost.',
        'Figures that need a market cap are null until the supply of the token and a price of SOL are known.',
      ].join(' '),
      problems: ['unavailable'],
      example: { items: [EXAMPLE_WATCHLIST_ITEM] },
    },
    params: NONE,
    query: NONE,
    answer: TrendingAnswer,
    async handle() {
      const { at, rows } = await read()
      return { body: { items: rows.map((row) => watchlistItem(row, at ?? 0)) } }
    },
  })
}
