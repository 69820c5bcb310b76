import { z } from 'zod'
import { componentSchema } from '../items/component-schema.ts'
import { MATCHES, SearchHit, tokenHit, walletHit } from '../items/search.ts'
import { searchTokens } from '../rows/token-search.ts'
import { searchText } from './parameters.ts'
import { type ResourceDeps, resource } from './resource.ts'

const MOST_HITS = 20
const MOST_WALLETS = 5

const SearchAnswer = componentSchema('SearchAnswer', 'What a text finds.', {
  items: z.array(SearchHit).max(MOST_HITS).describe('Best first'),
})
export type SearchAnswer = z.infer<typeof SearchAnswer>

/** `GET /search`: tracked wallets by alias, and tokens by address, symbol and name (rule L17). */
export function search({ position, knownFacts, openPositions }: ResourceDeps) {
  return resource({
    path: '/search',
    price: 1,
    docs: {
      tag: 'Search',
      summary: 'Wallets by alias, tokens by address, symbol or name',
      description: [
        `At most ${MOST_HITS} hits, of which at most ${MOST_WALLETS} are wallets. First exact matches, then beginnings of aliases and symbols, then words of names;`,
        'in each wallets by number, then tokens with most holders first. ASCII letters match in either case. Nothing found is an empty list.',
      ].join(' '),
      example: {
        items: [
          {
            kind: 'token',
            match: 'exact',
            wallet: null,
            token: {
              address: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
              symbol: 'Bonk',
              name: 'Bonk',
            },
            holders: 7,
          },
        ],
      },
    },
    query: z.object({ q: searchText }),
    answer: SearchAnswer,
    async handle({ query: { q } }, { store }) {
      const wallets = findWallets(q, position.walletCount())
      const tokens =
        q === '' || position.stored() === null
          ? []
          : await searchTokens(store, { knownFacts, openPositions }, q, MOST_HITS)
      const hits = [
        ...wallets.map(({ wallet, match }) => walletHit(wallet, match)),
        ...tokens.map(tokenHit),
      ]
      const items = MATCHES.flatMap((match) => hits.filter((hit) => hit.match === match))
      return { body: { items: items.slice(0, MOST_HITS) } }
    },
  })
}

/** The first wallets of which the alias begins with a text, by number. */
function findWallets(text: string, count: number) {
  const digits = /^w([1-9][0-9]{0,9})?$/i.exec(text)
  if (digits === null) return []
  const found: { readonly wallet: number; readonly match: 'exact' | 'prefix' }[] = []
  const whole = Number(digits[1] ?? 0)
  // W12, then W120 to W129, then W1200 to W1299. Without digits all of them.
  for (
    let [from, size] = whole === 0 ? [1, count] : [whole, 1];
    from <= count;
    from *= 10, size *= 10
  ) {
    for (let wallet = from; wallet < from + size && wallet <= count; wallet++) {
      if (found.length === MOST_WALLETS) return found
      found.push({ wallet, match: wallet === whole ? 'exact' : 'prefix' })
    }
  }
  return found
}
