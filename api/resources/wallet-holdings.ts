import { z } from 'zod'
import { alias } from '../items/fields.ts'
import { WalletHoldingItem } from '../items/holding.ts'
import { WalletHoldingsText } from '../items/wallet-holdings-text.ts'
import { aliasParameter, trackedWallet } from './parameters.ts'
import { type ResourceDeps, resource } from './resource.ts'

const WalletHoldingsAnswer = z
  .strictObject({
    wallet: alias,
    tokens: z.array(WalletHoldingItem).meta({
      description: 'By `last_activity_at` descending, then token address',
    }),
  })
  .meta({ id: 'WalletHoldingsAnswer', description: 'Holdings of one tracked wallet.' })
export type WalletHoldingsAnswer = z.infer<typeof WalletHoldingsAnswer>

/**
 * `GET /wallets/{alias}/holdings`: holdings of one wallet, counting swaps only (contract 4.2, rules
 * C14, C17).
 */
export function walletHoldings({ position, openPositions }: ResourceDeps) {
  const texts = new WalletHoldingsText(openPositions, MAX_CACHED_BYTES)
  return resource({
    path: '/wallets/:alias/holdings',
    price: 1,
    docs: {
      tag: 'Wallets',
      summary: 'Holdings of one wallet',
      description:
        'All tokens of which the wallet bought more than it sold. Only swaps count, not transfers.',
      problems: ['wallet_not_found'],
      example: {
        wallet: 'W12',
        tokens: [
          {
            token: { address: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263', decimals: 5 },
            position: { balance: 7.5, tokens_acquired: 10, tokens_held: 7.5, sol_invested: 3.2 },
            timing: {
              first_activity_at: 1790000000,
              last_activity_at: 1790003600,
              holding_time: 86400,
            },
          },
        ],
      },
    },
    params: z.object({ alias: aliasParameter }),
    answer: WalletHoldingsAnswer,
    async handle({ params: { alias } }) {
      const wallet = trackedWallet(alias, position.walletCount())
      const stored = position.stored()
      if (stored === null) return { body: { wallet: alias, tokens: [] } }
      return { body: texts.render(wallet, stored.blockTime) }
    },
  })
}

/** About 250 wallets that hold 2,000 tokens each. */
const MAX_CACHED_BYTES = 160 * 1024 * 1024
