import type { IncomingMessage } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import type { ReadyCheck } from '../pipeline/runtime/health-server.ts'
import type { Logger } from '../pipeline/runtime/logger.ts'
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
import { KeptAnswers } from './kept-answers.ts'
import { MarkerCache } from './marker-cache.ts'
import { authenticate, authenticateFeed, authenticateSession } from './middleware/authenticate.ts'
import type { RequestState } from './middleware/context.ts'
import { cors } from './middleware/cors.ts'
import { errors } from './middleware/errors.ts'
import { headers } from './middleware/headers.ts'
import { limitBody } from './middleware/limit-body.ts'
import { limitRate, limitRateMeanwhile, limitWallet } from './middleware/limit-rate.ts'
import { charge, showCredits } from './middleware/metering.ts'
import { readBody } from './middleware/read-body.ts'
import { requestId } from './middleware/request-id.ts'
import { requirePro } from './middleware/require-pro.ts'
import { respond } from './middleware/respond.ts'
import { route } from './middleware/route.ts'
import { sendTogether } from './middleware/send-together.ts'
import { showPage } from './middleware/show-page.ts'
import { requireMeans, type Upgrade, type UpgradeHandler, upgrade } from './middleware/upgrade.ts'
import { validate } from './middleware/validate.ts'
import { documentation } from './openapi/pages.ts'
import type { RateLimit } from './rate-limits/rate-limit.ts'
import type { Rendered } from './rendered.ts'
import { createResources } from './resources/index.ts'
import type { ResourceDeps } from './resources/resource.ts'
import type { FeedStatus } from './resources/status.ts'
import { createMetricsReader } from './rows/metrics-reader.ts'
import { OpenPositions } from './rows/open-positions.ts'
import { PositionNews } from './rows/position-news.ts'
import { RecentSwaps } from './rows/recent-swaps.ts'
import type { ApiMetrics } from './telemetry.ts'

export interface AppDeps
  extends Omit<ResourceDeps, 'readMetrics' | 'openPositions' | 'recentSwaps'> {
  readonly credits: Credits
  readonly accounts: Accounts
  readonly keyUses: KeyUses
  readonly channel: AccountChannel
  readonly keys: Pick<KeyLookUp, 'accountOf'>
  readonly feed: UpgradeHandler & FeedStatus
  readonly checks: () => Readonly<Record<string, ReadyCheck>>
  readonly upgradeOf: (request: IncomingMessage) => Upgrade | undefined
  readonly metrics: ApiMetrics
  readonly logger: Logger
  readonly tokens: Tokens
  readonly login: Login
  readonly jwtKeys: JwtKeys
  /** Null where nobody can pay: without payment addresses. */
  readonly billing: Billing | null
  readonly rateLimit: RateLimit | null
  readonly loginLimit: RateLimit | null
  /** The same for each wallet. */
  readonly walletLimit: RateLimit | null
  readonly trustedProxies: number
  readonly corsOrigins: readonly string[]
  readonly now: () => number
  /** Where clients find the API; known once it listens. */
  readonly serverUrl: () => string
  /** Null but with the simulator: what the dashboard's test wallet works with. */
  readonly testWallet: TestWalletOptions | null
}

/** The way of a request: the steps in order, then the resources. Refusals come in this order too (decisions D2). */
export function createApp(deps: AppDeps): Koa<RequestState> {
  const { credits, keys, feed, upgradeOf, metrics, logger } = deps
  const limited = limitRate(deps.rateLimit, deps.trustedProxies)
  const limitedMeanwhile = limitRateMeanwhile(deps.rateLimit, deps.trustedProxies)
  const loginLimited = limitRate(deps.loginLimit, deps.trustedProxies)
  const { store, position, epoch } = deps
  const news = new PositionNews({ store, position })
  const resources = createResources({
    ...deps,
    readMetrics: createMetricsReader(store, position),
    openPositions: new OpenPositions({ store, news, position }),
    recentSwaps: new RecentSwaps({ store, position, epoch }),
  })
  const answers = new MarkerCache<Rendered>(position, {
    maxWeight: MOST_CACHED_BYTES,
    weigh: ({ bytes }) => bytes.length,
  })

  const kept = new KeptAnswers(news, MOST_CACHED_BYTES)

  const router = new Router<RequestState>({ strict: true, sensitive: true })
  for (const resource of resources) {
    const { path, price, isUnlimited, isLogin } = resource
    const limit = isUnlimited ? limitRate(null, 0) : isLogin ? loginLimited : limited
    const answer = respond(resource, answers, kept, position)
    const steps =
      price === null
        ? [
            limit,
            ...(resource.needsSession ? [authenticateSession(deps.tokens)] : []),
            limitBody,
            ...(resource.requestBody ? [readBody] : []),
            validate(resource),
            ...(resource.needsPro ? [requirePro(deps.billing)] : []),
            ...(isLogin ? [limitWallet(deps.walletLimit)] : []),
            answer,
          ]
        : [
            showCredits(credits),
            limitedMeanwhile,
            authenticate(keys),
            limitBody,
            validate(resource),
            charge(credits, price, metrics),
            answer,
          ]
    if (resource.method === 'POST') router.post(path, ...steps)
    else router.get(path, ...steps)
  }
  const pages = [
    ...documentation(resources, deps.serverUrl),
    ...dashboardPages({ serverUrl: deps.serverUrl, testWallet: deps.testWallet }),
  ]
  for (const page of pages) router.get(page.path, limited, limitBody, showPage(page))
  router.get(
    '/ws',
    showCredits(credits),
    limited,
    authenticateFeed(keys, deps.tokens),
    limitBody,
    requireMeans(credits, deps.billing),
    authenticateFeed(keys, deps.tokens), // once more: it may have been taken back while credits or Pro were asked for
    upgrade({ feed, upgradeOf, tokens: deps.tokens, billing: deps.billing }),
  )

  const app = new Koa<RequestState>()
  // What `errors` does not see: connections that broke. Koa would print them, past the log.
  app.on('error', (err) => logger.debug({ err }, 'connection failed'))
  app.use(sendTogether())
  app.use(requestId)
  app.use(headers)
  app.use(cors(deps.corsOrigins))
  app.use(errors(logger, metrics))
  app.use(route(router))
  return app
}

/** Of answers of a marker, and as much again of answers kept by mint; uncompressed. */
const MOST_CACHED_BYTES = 64 * 1024 * 1024
