import { z } from 'zod'
import { count, mint } from '../items/fields.ts'
import { WalletAggregateItem, walletAggregateItem } from '../items/wallet-aggregate.ts'
import { readMintPositions } from '../rows/position-rows.ts'
import { mintParameter, NONE } from './parameters.ts'
import { type ResourceDeps, resource } from './resource.ts'

const WalletAggregatesAnswer = z
  .strictObject({
    mint,
    tracked_wallets: count.meta({ description: 'Tracked wallets that swapped the token' }),
    wallets: z.array(WalletAggregateItem).meta({
      description: 'By `first_buy_time` (null last), then alias number',
    }),
  })
  .meta({ id: 'WalletAggregatesAnswer', description: 'What each wallet did with one token.' })

/** `GET /tokens/{mint}/wallet-aggregates`: one row a wallet that swapped the mint (contract 4.1, decisions C14, C17). */
export function walletAggregates({ store }: ResourceDeps) {
  return resource({
    path: '/tokens/:mint/wallet-aggregates',
    price: 3,
    params: z.object({ mint: mintParameter }),
    query: NONE,
    answer: WalletAggregatesAnswer,
    async handle({ params: { mint } }) {
      const wallets = (await readMintPositions(store, mint)).map(walletAggregateItem)
      return { body: { mint, tracked_wallets: wallets.length, wallets } }
    },
  })
}
