import { z } from 'zod'
import { readMintPositions } from '../../pipeline/store/tables/positions.ts'
import { count, mint } from '../items/fields.ts'
import { WalletAggregateItem, walletAggregateItem } from '../items/wallet-aggregate.ts'
import { mintParameter } from './parameters.ts'
import { resource } from './resource.ts'

const WalletAggregatesAnswer = z
  .strictObject({
    mint,
    tracked_wallets: count.describe('Tracked wallets that swapped the token'),
    wallets: z.array(WalletAggregateItem).meta({
      description: 'By `first_buy_time` (null last), then alias number',
    }),
  })
  .meta({ id: 'WalletAggregatesAnswer', description: 'Swaps of one token, summed per wallet.' })
export type WalletAggregatesAnswer = z.infer<typeof WalletAggregatesAnswer>

/**
 * `GET /tokens/{mint}/wallet-aggregates`: one row per wallet that swapped the mint (contract 4.1,
 * rules C14, C17).
 */
export function walletAggregates() {
  return resource({
    path: '/tokens/:mint/wallet-aggregates',
    price: 3,
    docs: {
      tag: 'Tokens',
      summary: 'Swaps of one token, summed per tracked wallet',
      description:
        'One row for each tracked wallet that swapped the token. Only swaps count, not transfers. In SOL sums, USDC and USDT are converted at the SOL price of each swap.',
      example: {
        mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
        tracked_wallets: 1,
        wallets: [
          {
            wallet: 'W12',
            alias: 'W12',
            buys: 2,
            sells: 1,
            base_bought: '1000000',
            base_sold: '250000',
            base_net: '750000',
            sol_in: 3.2,
            sol_out: 1.1,
            pct_held: 0.75,
            first_buy_time: 1790000000,
            last_trade_time: 1790003600,
            entry_mcap: 1250000.5,
          },
        ],
      },
    },
    params: z.object({ mint: mintParameter }),
    answer: WalletAggregatesAnswer,
    mintOf: ({ params: { mint } }) => mint,
    async handle({ params: { mint } }, { store }) {
      const wallets = (await readMintPositions(store, mint)).map(walletAggregateItem)
      return { body: { mint, tracked_wallets: wallets.length, wallets } }
    },
  })
}
