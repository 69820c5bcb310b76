import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import { FOLD_MODES } from '../../pipeline/fold/fold-event.ts'
import { PositionsFold, type WalletPosition } from '../../pipeline/fold/wallet-positions.ts'
import { isBeyond } from '../../pipeline/fold/wallet-state.ts'
import { readTokenPrices } from '../../pipeline/store/tables/token-prices.ts'
import { componentSchema } from '../items/component-schema.ts'
import { alias, count, hasMore, nextCursor, time } from '../items/fields.ts'
import { WalletPositionItem, walletPositionItem } from '../items/wallet-position.ts'
import { MarkerCache } from '../marker-cache.ts'
import type { StoredSlot } from '../state-reader.ts'
import {
  aliasParameter,
  choice,
  cursorText,
  integer,
  invalidCursor,
  trackedWallet,
} from './parameters.ts'
import { type ResourceDeps, type ResourceDocs, resource } from './resource.ts'

const PositionsAnswer = componentSchema('PositionsAnswer', 'A page of positions of a wallet.', {
  wallet: alias,
  status: z.enum(['open', 'closed', 'all']).describe('The parameter `status`'),
  mode: z.enum(FOLD_MODES).describe('The parameter `mode`'),
  as_of: time.nullable().describe('Time of the newest stored block; null before the first one'),
  count: count.describe('Number of items on this page'),
  limit: z.int().min(1).max(200).describe('The parameter `limit`'),
  has_more: hasMore,
  next_cursor: nextCursor,
  items: z.array(WalletPositionItem).meta({
    description: 'The token with the newest event first',
  }),
})
export type PositionsAnswer = z.infer<typeof PositionsAnswer>

/** Parameter `mode` (rule L6). */
export const modeParameter = choice(FOLD_MODES, 'raw').describe(
  '`raw`: swaps and transfers; `strict`: swaps alone, so that no transfer changes a figure',
)

const DOCS: ResourceDocs<PositionsAnswer> = {
  tag: 'Wallets',
  summary: 'Positions of one wallet, with profit',
  description:
    'What the wallet holds of each token, what that cost and is worth, and what it has gained. `strict` leaves transfers out: a token that came as a gift has no lot. The value comes from the pool of a token on the watchlist, else from swaps of other tracked wallets, never from those of the wallet itself. A position that trades while you page moves to the head.',
  problems: ['wallet_not_found'],
  links: {
    next: {
      operationId: 'getWalletsAliasPositions',
      description: 'The next page, while `has_more` is true; pass the same `status` and `mode`',
      parameters: { alias: '$request.path.alias', cursor: '$response.body#/next_cursor' },
    },
  },
  example: {
    wallet: 'W12',
    status: 'open',
    mode: 'raw',
    as_of: 1_790_003_600,
    count: 1,
    limit: 1,
    has_more: true,
    next_cursor: 'mUkuqtcKjnOS0xqIt6vO8yZ1bqS3kWgLx0m4dHc2pQe7rTfVaA',
    items: [
      {
        token: {
          address: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
          decimals: 5,
          symbol: 'Bonk',
          name: 'Bonk',
        },
        status: 'open',
        amount: '750000',
        cost_sol: 2.4,
        avg_cost_sol: 0.32,
        realized_sol: 0.3,
        price_sol: 0.4,
        price_source: 'pool',
        price_age_seconds: 10,
        value_sol: 3,
        unrealized_sol: 0.6,
        bought_sol: 3.2,
        sold_sol: 1.1,
        buys: 2,
        sells: 1,
        return_pct: 28.125,
        holding_seconds: 3600,
        first_trade_at: 1_790_000_000,
        last_trade_at: 1_790_002_000,
      },
    ],
  },
}

/**
 * `GET /wallets/{alias}/positions`: a wallet's position in each token (rule L7). A cursor is valid
 * for its wallet, status and mode. An unknown alias is 404 `wallet_not_found`.
 */
export function walletPositions(deps: ResourceDeps & { readonly solPriceMaxAgeSeconds: number }) {
  const { position, cursors, perturb, histories, knownFacts, solPriceMaxAgeSeconds } = deps
  const folded = new MarkerCache<Folded>(position, {
    maxWeight: MOST_POSITIONS,
    weigh: ({ positions }) => positions.length,
  })
  return resource({
    path: '/wallets/:alias/positions',
    price: 1,
    docs: DOCS,
    params: z.object({ alias: aliasParameter }),
    query: z.object({
      status: choice(['open', 'closed', 'all'], 'open').describe('Only positions of this status'),
      mode: modeParameter,
      limit: integer(1, 200, 100),
      cursor: cursorText,
    }),
    answer: PositionsAnswer,
    isHot: () => true,
    async handle({ params: { alias }, query: { status, mode, limit, cursor } }, { store }) {
      const wallet = trackedWallet(alias, position.walletCount())
      const scope = `positions:${alias}:${status}:${mode}` as const
      const before = cursor === null ? null : cursors.decode(scope, cursor)
      if (cursor !== null && before === null) throw invalidCursor()
      const { stored, positions } = await folded.get(`${wallet} ${mode}`, async (stored) => {
        const fold = new PositionsFold({ wallet, mode, perturb })
        if (stored !== null)
          for await (const page of histories.read(store, wallet, stored.slot))
            for (const event of page) fold.add(event)
        return { stored, positions: fold.positions() }
      })
      const listed = positions.filter(
        ({ amount, last }) =>
          (status === 'all' || amount > 0n === (status === 'open')) &&
          (before === null || isBeyond(last, before)),
      )
      const page = listed.slice(0, limit)
      const mints = page.map(({ mint }) => mint)
      const now = stored?.blockTime ?? 0
      const [facts, prices] = await Promise.all([
        knownFacts.of(store, mints),
        readTokenPrices(store, {
          mints: page.flatMap(({ mint, amount }) => (amount > 0n ? [mint] : [])),
          wallet,
          times: [now],
          stored: stored?.slot ?? 0,
          wasRedecoded: position.wasRedecoded(),
          solPriceMaxAgeSeconds,
          perturb,
        }),
      ])
      prices.moveTo(now)
      const last = page.at(-1)?.last
      const more = listed.length > limit && last ? keyOf(wallet, last) : null
      return {
        body: {
          wallet: aliasOf(wallet),
          status,
          mode,
          as_of: stored?.blockTime ?? null,
          count: page.length,
          limit,
          has_more: more !== null,
          next_cursor: more && cursors.encode(scope, more),
          items: page.map((position) =>
            walletPositionItem(position, facts.get(position.mint), prices.priceOf(position.mint), {
              now,
              isSalted: perturb !== null,
            }),
          ),
        },
      }
    },
  })
}

/** The positions of a wallet as of a marker, the token with the newest event first. */
interface Folded {
  readonly stored: StoredSlot | null
  readonly positions: readonly WalletPosition[]
}

function keyOf(wallet: number, { slot, txIndex, eventIndex }: WalletPosition['last']): EventKey {
  return { slot, txIndex, wallet, eventIndex }
}

/** Positions in memory, some 500 bytes each. */
const MOST_POSITIONS = 50_000
