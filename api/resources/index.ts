import type { Readiness } from '../../pipeline/runtime/readiness.ts'
import type { JwtKeys } from '../auth/jwt-keys.ts'
import type { Login } from '../auth/login.ts'
import type { SessionUses } from '../auth/session-uses.ts'
import type { Tokens } from '../auth/tokens.ts'
import type { Billing } from '../billing/billing.ts'
import type { Credits } from '../credits/credits.ts'
import type { AccountBounds } from '../items/account.ts'
import { account } from './account.ts'
import { type AccountDeps, meApi, rotateApiKey } from './api-account.ts'
import { authLogin } from './auth-login.ts'
import { authLogout, authLogoutEverywhere } from './auth-logout.ts'
import { authNonce } from './auth-nonce.ts'
import { billingCreditsCheck } from './billing-credits-check.ts'
import { billingPlans } from './billing-plans.ts'
import { billingProCheck } from './billing-pro-check.ts'
import { billingProPayments } from './billing-pro-payments.ts'
import { billingTopUps } from './billing-top-ups.ts'
import { healthz, readyz } from './health.ts'
import { heldTokens } from './held-tokens.ts'
import { holdings } from './holdings.ts'
import { jwks } from './jwks.ts'
import { meEvents } from './me-events.ts'
import { createKey, deleteKey, meKeys, type NamedKeyDeps } from './me-keys.ts'
import { meSessions, revokeSession, sessionKey } from './me-sessions.ts'
import { meSignalsFilter } from './me-signals-filter.ts'
import { meUsage } from './me-usage.ts'
import { meWatchlistsTrending } from './me-watchlists-trending.ts'
import { type WebhookDeps, webhookResources } from './me-webhooks.ts'
import { pricesSol } from './prices-sol.ts'
import type { Resource, ResourceDeps } from './resource.ts'
import { search } from './search.ts'
import { type FeedStatus, status } from './status.ts'
import { token } from './token.ts'
import { tokenSwaps } from './token-swaps.ts'
import { trades } from './trades.ts'
import { walletAggregates } from './wallet-aggregates.ts'
import { walletHoldings } from './wallet-holdings.ts'
import { walletMetrics } from './wallet-metrics.ts'
import { walletPnl } from './wallet-pnl.ts'
import { walletPositions } from './wallet-positions.ts'
import { walletTrades } from './wallet-trades.ts'
import { wallets } from './wallets.ts'

/** Returns all resources of the API, in the order of the documents. */
export function createResources(
  deps: ResourceDeps &
    AccountDeps &
    NamedKeyDeps &
    WebhookDeps & {
      readonly sessionUses: Pick<SessionUses, 'list' | 'find'>
      readonly credits: Pick<Credits, 'balance'>
      readonly feed: FeedStatus
      readonly readiness: Pick<Readiness, 'read'>
      readonly now: () => number
      readonly login: Login
      readonly tokens: Tokens
      readonly jwtKeys: () => JwtKeys
      readonly billing: Billing | null
      readonly accountBounds: AccountBounds
      /** `SOL_PRICE_MAX_AGE_SECONDS`. */
      readonly solPriceMaxAgeSeconds: number
    },
): readonly Resource[] {
  return [
    tokenSwaps(deps),
    walletAggregates(),
    heldTokens(deps),
    // After `/tokens/held`, whose path it matches too.
    token(deps),
    wallets(deps),
    walletMetrics(deps),
    holdings(deps),
    walletHoldings(deps),
    walletTrades(deps),
    walletPositions(deps),
    walletPnl(deps),
    trades(deps),
    pricesSol(deps),
    search(deps),
    account(deps),
    authNonce(deps),
    authLogin(deps),
    authLogout(deps),
    authLogoutEverywhere(deps),
    jwks(deps),
    meApi(deps),
    rotateApiKey(deps),
    meKeys(deps),
    createKey(deps),
    deleteKey(deps),
    ...webhookResources(deps),
    meSessions(deps),
    revokeSession(deps),
    sessionKey(deps),
    meUsage(deps),
    meEvents(deps),
    billingPlans(deps),
    billingProCheck(deps),
    billingCreditsCheck(deps),
    billingTopUps(deps),
    billingProPayments(deps),
    meWatchlistsTrending(deps),
    meSignalsFilter(deps),
    status(deps),
    healthz(),
    readyz(deps.readiness),
  ]
}
