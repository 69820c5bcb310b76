import { z } from 'zod'
import { EXAMPLE_TRADE } from '../items/trade.ts'
import { readFilteredSwaps } from '../rows/filtered-swaps.ts'
import { aliasParameter, cursorText, integer, invalidCursor, trackedWallet } from './parameters.ts'
import { type ResourceDeps, resource } from './resource.ts'
import { TradesAnswer, tradesBody } from './trades.ts'

/**
 * `GET /wallets/{alias}/trades`: trades of one tracked wallet, newest first (rule L4). A cursor is
 * valid for its wallet only. An unknown alias is 404 `wallet_not_found`.
 */
export function walletTrades(deps: ResourceDeps) {
  const { position, cursors, epoch, perturb } = deps
  return resource({
    path: '/wallets/:alias/trades',
    price: 1,
    docs: {
      tag: 'Wallets',
      summary: 'Trades of one wallet, newest first',
      description:
        'The object of `GET /trades`, of one wallet. Pages go back in time: pass `next_cursor` as `cursor` until `has_more` is false.',
      problems: ['wallet_not_found'],
      links: {
        next: {
          operationId: 'getWalletsAliasTrades',
          description: 'The next, older page, while `has_more` is true',
          parameters: {
            alias: '$request.path.alias',
            cursor: '$response.body#/next_cursor',
          },
        },
      },
      example: {
        count: 1,
        limit: 1,
        has_more: true,
        next_cursor: 'mUkuqtcKjnOS0xqIt6vO8yZ1bqS3kWgLx0m4dHc2pQe7rTfVaA',
        items: [EXAMPLE_TRADE],
      },
    },
    params: z.object({ alias: aliasParameter }),
    query: z.object({ limit: integer(1, 100, 25), cursor: cursorText }),
    answer: TradesAnswer,
    isHot: () => true,
    async handle({ params: { alias }, query: { limit, cursor } }, { store }) {
      const wallet = trackedWallet(alias, position.walletCount())
      const scope = `trades:${alias}` as const
      const before = cursor === null ? null : cursors.decode(scope, cursor)
      if (cursor !== null && before === null) throw invalidCursor()
      const stored = position.stored()
      const of = stored && { stored: stored.slot, filter: { wallet }, epoch, perturb }
      const found = of === null ? NOTHING : await readFilteredSwaps(store, of, before, limit)
      return { body: await tradesBody(found, limit, { ...deps, store, scope }) }
    },
  })
}

const NOTHING = { swaps: [], hasMore: false, unsettled: new Set<string>() }
