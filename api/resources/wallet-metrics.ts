import { z } from 'zod'
import { EMPTY_METRICS } from '../../pipeline/store/tables/wallet-metrics.ts'
import { EXAMPLE_WALLET, WalletMetricsItem, walletMetricsItem } from '../items/wallet-metrics.ts'
import { aliasParameter, trackedWallet } from './parameters.ts'
import { type ResourceDeps, resource } from './resource.ts'

/**
 * `GET /wallets/{alias}/metrics`: one wallet (contract 4.2). An unknown alias is 404
 * `wallet_not_found`.
 */
export function walletMetrics({ metricsOf, position }: ResourceDeps) {
  return resource({
    path: '/wallets/:alias/metrics',
    price: 1,
    docs: {
      tag: 'Wallets',
      summary: 'One wallet with its metrics',
      description: 'The same object as an item of `GET /wallets`.',
      problems: ['wallet_not_found'],
      example: EXAMPLE_WALLET,
    },
    params: z.object({ alias: aliasParameter }),
    answer: WalletMetricsItem,
    isHot: () => true,
    async handle({ params: { alias } }) {
      const wallet = trackedWallet(alias, position.walletCount())
      return { body: walletMetricsItem(metricsOf(wallet) ?? { ...EMPTY_METRICS, wallet }) }
    },
  })
}
