import type { ReadyCheck } from '../../pipeline/runtime/health-server.ts'
import { healthz, readyz } from './health.ts'
import { heldTokens } from './held-tokens.ts'
import { holdings } from './holdings.ts'
import type { Resource, ResourceDeps } from './resource.ts'
import { type FeedStatus, status } from './status.ts'
import { tokenSwaps } from './token-swaps.ts'
import { trades } from './trades.ts'
import { walletAggregates } from './wallet-aggregates.ts'
import { walletHoldings } from './wallet-holdings.ts'
import { walletMetrics } from './wallet-metrics.ts'
import { wallets } from './wallets.ts'

/** Everything the API answers over HTTP, in the order of the documents. */
export function createResources(
  deps: ResourceDeps & {
    readonly feed: FeedStatus
    readonly checks: () => Readonly<Record<string, ReadyCheck>>
    readonly now: () => number
  },
): readonly Resource[] {
  return [
    tokenSwaps(deps),
    walletAggregates(deps),
    heldTokens(deps),
    wallets(deps),
    walletMetrics(deps),
    holdings(deps),
    walletHoldings(deps),
    trades(deps),
    status(deps),
    healthz(),
    readyz(deps.checks),
  ]
}
