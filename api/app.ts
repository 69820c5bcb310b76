import type { IncomingMessage } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import type { Logger } from '../pipeline/runtime/logger.ts'
import type { Readiness } from '../pipeline/runtime/readiness.ts'
import type { AccountEvents } from './accounts/account-events.ts'
import type { Accounts } from './accounts/accounts.ts'
import type { KeyLookUp } from './accounts/key-cache.ts'
import type { KeyUses } from './accounts/key-uses.ts'
import type { JwtKeys } from './auth/jwt-keys.ts'
import type { Login } from './auth/login.ts'
import type { Tokens } from './auth/tokens.ts'
import type { Billing } from './billing/billing.ts'
import type { AccountChannel } from './channel/account-channel.ts'
import type { Credits } from './credits/credits.ts'
import { dashboardPages } from './dashboard/dashboard.ts'
import type { TestWalletOptions } from './dashboard/shell.ts'
import type { FairReads } from './fair-reads.ts'
import { MarkerCache } from './marker-cache.ts'
import {
  authenticate,
  authenticateFeed,
  authenticateSession,
  type OnKeyRefused,
} from './middleware/authenticate.ts'
import { batchSends } from './middleware/batch-sends.ts'
import type { RequestState } from './middleware/context.ts'
import { cors } from './middleware/cors.ts'
import { errors } from './middleware/errors.ts'
import { createFailedAuth } from './middleware/failed-auth.ts'
import { headers } from './middleware/headers.ts'
import { type AccountLimit, limitAccount } from './middleware/limit-account.ts'
import { limitBody } from './middleware/limit-body.ts'
import { limitQuery } from './middleware/limit-query.ts'
import { limitRate, limitSite, limitWallet, startRateLimit } from './middleware/limit-rate.ts'
import { charge, showCredits } from './middleware/metering.ts'
import { readBody } from './middleware/read-body.ts'
import { clientNetwork, recordNetwork } from './middleware/record-network.ts'
import { requestId } from './middleware/request-id.ts'
import { requirePro } from './middleware/require-pro.ts'
import { respond } from './middleware/respond.ts'
import { route } from './middleware/route.ts'
import { showPage } from './middleware/show-page.ts'
import {
  requireCreditsOrPro,
  type Upgrade,
  type UpgradeHandler,
  upgrade,
} from './middleware/upgrade.ts'
import { validate } from './middleware/validate.ts'
import { MintAnswerCache } from './mint-answer-cache.ts'
import { documentation } from './openapi/pages.ts'
import type { RateLimit } from './rate-limits/rate-limit.ts'
import type { RenderedAnswer } from './rendered-answer.ts'
import { createResources } from './resources/index.ts'
import type { ResourceDeps } from './resources/resource.ts'
import type { FeedStatus } from './resources/status.ts'
import { createMetricsReader } from './rows/metrics-reader.ts'
import { OpenPositions } from './rows/open-positions.ts'
import { PositionChanges } from './rows/position-changes.ts'
import { RecentSwaps } from './rows/recent-swaps.ts'
import type { ApiMetrics } from './telemetry.ts'

export interface AppDeps
  extends Omit<ResourceDeps, 'readMetrics' | 'openPositions' | 'recentSwaps'> {
  readonly credits: Credits
  readonly accounts: Accounts
  readonly keyUses: KeyUses
  readonly events: AccountEvents
  readonly channel: AccountChannel
  readonly keys: Pick<KeyLookUp, 'accountOf'>
  /** Is told of a text that came as an API key and is none that is valid, and its network. */
  readonly onKeyRefused: (text: string, network: string) => void
  readonly feed: UpgradeHandler & FeedStatus
  readonly readiness: Pick<Readiness, 'read'>
  readonly upgradeOf: (request: IncomingMessage) => Upgrade | undefined
  readonly metrics: ApiMetrics
  readonly logger: Logger
  readonly tokens: Tokens
  readonly login: Login
  readonly jwtKeys: () => JwtKeys
  /** Null where nobody can pay: without payment addresses. */
  readonly billing: Billing | null
  readonly rateLimit: RateLimit | null
  readonly loginLimit: RateLimit | null
  /** The same for each IPv6 /48. */
  readonly siteLimit: RateLimit | null
  /** The same for each wallet. */
  readonly walletLimit: RateLimit | null
  /** Of invalid credentials. */
  readonly failedAuthLimit: RateLimit | null
  /** Of requests with a key. */
  readonly accountLimit: AccountLimit
  /** Of requests with a dashboard token. */
  readonly dashboardLimit: AccountLimit
  /** The store, as product answers read it. */
  readonly reads: FairReads
  readonly trustedProxies: number
  readonly corsOrigins: readonly string[]
  readonly now: () => number
  /** Who takes reports of security problems; null: nobody is named. */
  readonly securityContact: string | null
  /** Where clients find the API; known once it listens. */
  readonly serverUrl: () => string
  /** Null but with the simulator: what the dashboard's test wallet works with. */
  readonly testWallet: TestWalletOptions | null
}

/** The way of a request: the steps in order, then the resources. Refusals come in this order too (rule D2). */
export function createApp(deps: AppDeps): Koa<RequestState> {
  const { credits, keys, feed, upgradeOf, metrics, logger } = deps
  const limited = limitRate(deps.rateLimit, deps.trustedProxies)
  const limitedMeanwhile = startRateLimit(deps.rateLimit, deps.trustedProxies)
  const loginLimited = limitRate(deps.loginLimit, deps.trustedProxies)
  const failedAuth = createFailedAuth(deps.failedAuthLimit, deps.trustedProxies)
  const onKeyRefused: OnKeyRefused = (text, ctx) =>
    deps.onKeyRefused(text, clientNetwork(ctx, deps.trustedProxies))
  const accountLimited = limitAccount(deps.accountLimit)
  const dashboardLimited = limitAccount(deps.dashboardLimit)
  const { store, position, epoch } = deps
  const news = new PositionChanges({ store, position })
  const resources = createResources({
    ...deps,
    readMetrics: createMetricsReader(store, position),
    openPositions: new OpenPositions({ store, news, position }),
    recentSwaps: new RecentSwaps({ store, position, epoch }),
  })
  const answers = new MarkerCache<RenderedAnswer>(position, {
    maxWeight: MOST_CACHED_BYTES,
    weigh: ({ bytes }) => bytes.length,
  })

  const kept = new MintAnswerCache(news, MOST_CACHED_BYTES)

  const router = new Router<RequestState>({ strict: true, sensitive: true })
  for (const resource of resources) {
    const { path, price, isUnlimited, isLogin } = resource
    const limit = isUnlimited ? limitRate(null, 0) : isLogin ? loginLimited : limited
    const answer = respond(resource, { answers, kept, position, reads: deps.reads, store })
    const steps =
      price === null
        ? [
            limit,
            ...(isLogin ? [limitSite(deps.siteLimit, deps.trustedProxies)] : []),
            ...(resource.needsSession ? [authenticateSession(deps.tokens, failedAuth)] : []),
            // A logout is never refused: it revokes a token that may be in the wrong hands.
            ...(resource.needsSession && !path.startsWith('/auth/') ? [dashboardLimited] : []),
            limitBody,
            ...(resource.requestBody ? [readBody] : []),
            limitQuery,
            validate(resource),
            ...(resource.needsPro ? [requirePro(deps.billing)] : []),
            ...(isLogin ? [limitWallet(deps.walletLimit)] : []),
            ...(isLogin || resource.needsSession ? [recordNetwork(deps.trustedProxies)] : []),
            answer,
          ]
        : [
            showCredits(credits),
            limitedMeanwhile,
            authenticate(keys, failedAuth, onKeyRefused),
            accountLimited,
            limitBody,
            limitQuery,
            validate(resource),
            charge(credits, price, metrics),
            answer,
          ]
    if (resource.method === 'POST') router.post(path, ...steps)
    else router.get(path, ...steps)
  }
  const pages = [
    ...documentation({ ...deps, resources }),
    ...dashboardPages({ serverUrl: deps.serverUrl, testWallet: deps.testWallet }),
  ]
  for (const page of pages) router.get(page.path, limited, limitBody, limitQuery, showPage(page))
  router.get(
    '/ws',
    showCredits(credits),
    limited,
    authenticateFeed(keys, deps.tokens, failedAuth, onKeyRefused),
    (ctx, next) => (ctx.state.session ? dashboardLimited : accountLimited)(ctx, next),
    limitBody,
    limitQuery,
    requireCreditsOrPro(credits, deps.billing),
    // A second time: the key or token may have been revoked while credits or Pro were read.
    authenticateFeed(keys, deps.tokens, failedAuth, onKeyRefused),
    upgrade({ feed, upgradeOf, tokens: deps.tokens, billing: deps.billing }),
  )

  const app = new Koa<RequestState>()
  // What `errors` does not see: connections that broke. Koa would print them, past the log.
  app.on('error', (err) => logger.debug({ err }, 'connection failed'))
  app.use(batchSends())
  app.use(requestId)
  app.use(headers)
  app.use(cors(deps.corsOrigins))
  app.use(errors(logger, metrics))
  app.use(route(router))
  return app
}

/** Of answers of a marker, and as much again of answers kept by mint; uncompressed. */
const MOST_CACHED_BYTES = 64 * 1024 * 1024
