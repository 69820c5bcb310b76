import Router from '@koa/router'
import compose from 'koa-compose'
import type { Logger } from '../pipeline/runtime/logger.ts'
import type { AccountAccess } from './accounts/account-access.ts'
import type { ProductKeys } from './auth/product-keys.ts'
import type { SessionUses } from './auth/session-uses.ts'
import type { Credits } from './credits/credits.ts'
import { dashboardPages } from './dashboard/dashboard.ts'
import type { TestWalletOptions } from './dashboard/shell.ts'
import type { FairReads } from './fair-reads.ts'
import type { Limits } from './limits.ts'
import { MarkerCache } from './marker-cache.ts'
import { type FollowToolDeps, followTool } from './mcp/follow-tool.ts'
import { mcpEndpoint } from './mcp/mcp-endpoint.ts'
import { requireOrigin } from './mcp/require-origin.ts'
import { type PricedResource, resourceTools } from './mcp/resource-tools.ts'
import {
  authenticate,
  authenticateFeed,
  authenticateSession,
  type KeyChecks,
} from './middleware/authenticate.ts'
import type { ApiMiddleware, RequestState } from './middleware/context.ts'
import { logFailures } from './middleware/errors.ts'
import { createFailedAuth } from './middleware/failed-auth.ts'
import { limitAccount } from './middleware/limit-account.ts'
import { limitBody } from './middleware/limit-body.ts'
import { limitQuery } from './middleware/limit-query.ts'
import {
  addressOfRequest,
  limitRate,
  limitSite,
  limitWallet,
  startRateLimit,
} from './middleware/limit-rate.ts'
import { charge, passLimits, showCredits } from './middleware/metering.ts'
import { readBody } from './middleware/read-body.ts'
import { clientNetwork, recordNetwork } from './middleware/record-network.ts'
import { requireEnabled } from './middleware/require-enabled.ts'
import { requireKeyUse } from './middleware/require-key-use.ts'
import { requirePro } from './middleware/require-pro.ts'
import { respond } from './middleware/respond.ts'
import { showPage } from './middleware/show-page.ts'
import { requireCreditsOrPro, type UpgradeHandler, upgrade } from './middleware/upgrade.ts'
import { validate } from './middleware/validate.ts'
import { MintAnswerCache } from './mint-answer-cache.ts'
import { documentation } from './openapi/pages.ts'
import type { RenderedAnswer } from './rendered-answer.ts'
import { createResources } from './resources/index.ts'
import type { Resource, ResourceDeps } from './resources/resource.ts'
import type { FeedStatus } from './resources/status.ts'
import { KeptHistories } from './rows/kept-histories.ts'
import type { KnownFacts } from './rows/known-facts.ts'
import { Leaderboard } from './rows/leaderboard.ts'
import { Metrics } from './rows/metrics.ts'
import { OpenPositions } from './rows/open-positions.ts'
import { RecentSwaps } from './rows/recent-swaps.ts'
import type { StateReader } from './state-reader.ts'
import type { Feed } from './stream/feed.ts'
import type { ApiMetrics } from './telemetry.ts'

/** Dependencies of the resources, without the read models that `createRoutes` creates. */
type ReadDeps = Omit<
  Parameters<typeof createResources>[0],
  'metricsOf' | 'openPositions' | 'recentSwaps' | 'histories' | 'leaderboard'
>

/** Dependencies of the routes. */
export interface RouteDeps extends ReadDeps {
  readonly credits: Credits
  readonly keys: ProductKeys
  readonly sessionUses: Pick<SessionUses, 'mark' | 'list' | 'find'>
  readonly access: Pick<AccountAccess, 'requireEnabled'>
  /**
   * Called with text that was sent as an API key and is not a valid one, and with the client's
   * network.
   */
  readonly onKeyRefused: (text: string, network: string) => void
  readonly feed: UpgradeHandler & FeedStatus & Pick<Feed, 'follow' | 'onFollowed'>
  /** Returns the connection of a request that asks for an upgrade. */
  readonly upgradeOf: Parameters<typeof upgrade>[0]['upgradeOf']
  readonly metrics: ApiMetrics
  readonly logger: Logger
  /** Origins whose pages may call the API. */
  readonly corsOrigins: readonly string[]
  readonly limits: Limits
  /** Brings the read models to each marker. */
  readonly reader: StateReader
  readonly knownFacts: KnownFacts
  /** The store with a fair queue, for responses that are charged. */
  readonly reads: FairReads
  /** Number of proxies in front of this server whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: number
  /** Contact for reports of security problems; null: none is published. */
  readonly securityContact: string | null
  /** Public URL of the API; known once it listens. */
  readonly serverUrl: () => string
  /** Options of the dashboard's test wallet; null without the simulator. */
  readonly testWallet: TestWalletOptions | null
}

/** Returns the routes of all resources and pages, and of the feed, each with its middleware. */
export function createRoutes(deps: RouteDeps): Router<RequestState> {
  const router = new Router<RequestState>({ strict: true, sensitive: true })
  const steps = createSharedSteps(deps)
  const { resources, respondTo } = createAnswers(deps)
  const priced: PricedResource[] = []
  for (const resource of resources) {
    const { price } = resource
    const answer = respondTo(resource)
    const answerSteps = price === null ? [] : pricedSteps(resource, price, answer, deps)
    if (price !== null) priced.push({ resource, price, steps: answerSteps })
    const chain =
      price === null
        ? freeChain(resource, answer, deps, steps)
        : chargedChain(price, answerSteps, deps, steps)
    if (resource.method === 'POST') router.post(resource.path, ...chain)
    else if (resource.method === 'PATCH') router.patch(resource.path, ...chain)
    else if (resource.method === 'DELETE') router.delete(resource.path, ...chain)
    else router.get(resource.path, ...chain)
  }
  const pages = [
    ...documentation({ ...deps, resources }),
    ...dashboardPages({ serverUrl: deps.serverUrl, testWallet: deps.testWallet }),
  ]
  for (const page of pages)
    router.get(page.path, steps.limited, limitBody, limitQuery, showPage(page))
  router.get('/ws', ...feedChain(deps, steps))
  router.post('/mcp', ...mcpChain(priced, deps, steps))
  const heads = new Set(
    [...resources.filter(({ answersHead }) => answersHead), ...pages].map(({ path }) => path),
  )
  // The router adds HEAD to every GET. A charged answer has no HEAD, which would cost the same.
  for (const layer of router.stack)
    if (!heads.has(String(layer.path)))
      layer.methods = layer.methods.filter((method) => method !== 'HEAD')
  return router
}

type SharedSteps = ReturnType<typeof createSharedSteps>

/** Middleware that counts over several routes, so that each is created once. */
function createSharedSteps(deps: RouteDeps) {
  const { limits, keys, sessionUses, trustedProxies, onKeyRefused } = deps
  const failed = createFailedAuth(limits.failedAuth, trustedProxies)
  const checks: KeyChecks = {
    keys,
    failed,
    onKeyRefused: (text, ctx) => onKeyRefused(text, clientNetwork(ctx, trustedProxies)),
    onSessionUsed: (session, ctx) => sessionUses.mark(session, clientNetwork(ctx, trustedProxies)),
    trustedProxies,
  }
  return {
    limited: limitRate(limits.client, trustedProxies),
    limitStarted: startRateLimit(limits.client, trustedProxies),
    loginLimited: limitRate(limits.login, trustedProxies),
    accountLimited: limitAccount(limits.account),
    dashboardLimited: limitAccount(limits.dashboard),
    failedAuth: failed,
    checks,
  }
}

/** Creates the resources with their read models, and the caches of their responses. */
function createAnswers(deps: RouteDeps): {
  readonly resources: readonly Resource[]
  readonly respondTo: (resource: Resource) => ApiMiddleware
} {
  const { store, position, epoch, reads, reader } = deps
  const walletMetrics = new Metrics()
  const openPositions = new OpenPositions()
  const recentSwaps = new RecentSwaps(epoch)
  const histories = new KeptHistories((stores) => reads.storeOfAll(stores))
  const { knownFacts } = deps
  const metricsOf = (wallet: number) => walletMetrics.of(wallet)
  const isSalted = deps.perturb !== null
  const resourceDeps: ResourceDeps & ReadDeps = {
    ...deps,
    metricsOf,
    openPositions,
    recentSwaps,
    histories,
    leaderboard: new Leaderboard({ store, position, metricsOf, isSalted }),
  }
  const byMarker = new MarkerCache<RenderedAnswer>(position, {
    maxWeight: MAX_CACHED_BYTES,
    weigh: ({ bytes }) => bytes.length,
  })
  const byMint = new MintAnswerCache(MAX_CACHED_BYTES)
  for (const model of [walletMetrics, openPositions, recentSwaps, histories, knownFacts, byMint])
    reader.add(model)
  return {
    resources: createResources(resourceDeps),
    respondTo: (resource) => respond(resource, { byMarker, byMint, position, reads, store }),
  }
}

/** The middleware of a resource that needs no API key, in the order of rule D2. */
function freeChain(
  resource: Resource,
  answer: ApiMiddleware,
  { limits, trustedProxies, tokens, access, billing, sessionUses }: RouteDeps,
  { limited, loginLimited, dashboardLimited, failedAuth }: SharedSteps,
): ApiMiddleware[] {
  const { path, isUnlimited, isLogin, needsSession, needsPro, requestBody } = resource
  const chain: ApiMiddleware[] = []
  if (!isUnlimited) chain.push(isLogin ? loginLimited : limited)
  if (isLogin) chain.push(limitSite(limits.loginSite, trustedProxies))
  if (needsSession) chain.push(authenticateSession(tokens, failedAuth))
  // A logout is never refused: the token that it revokes may have been stolen.
  if (needsSession && !path.startsWith('/auth/'))
    chain.push(requireEnabled(access), dashboardLimited, passLimits)
  chain.push(limitBody)
  if (requestBody) chain.push(readBody)
  chain.push(limitQuery, validate(resource))
  if (needsPro) chain.push(requirePro(billing))
  if (isLogin) chain.push(limitWallet(limits.loginWallet))
  if (isLogin || needsSession) chain.push(recordNetwork(trustedProxies, sessionUses))
  chain.push(answer)
  return chain
}

/** The middleware of a resource with a price, in the order of rule D2. */
function chargedChain(
  price: number,
  answerSteps: readonly ApiMiddleware[],
  { credits }: RouteDeps,
  { limitStarted, accountLimited, checks }: SharedSteps,
): ApiMiddleware[] {
  return [
    showCredits(credits),
    limitStarted,
    authenticate(checks, price === 0 ? null : 'read'),
    accountLimited,
    limitBody,
    ...answerSteps,
  ]
}

/**
 * The steps that validate, charge and answer a request of a resource with a price, of which the
 * account is known: over REST, and of a tool (rule M2).
 */
function pricedSteps(
  resource: Resource,
  price: number,
  answer: ApiMiddleware,
  { credits, metrics }: RouteDeps,
): readonly ApiMiddleware[] {
  const charged = price === 0 ? passLimits : charge(credits, price, metrics)
  return [limitQuery, validate(resource), charged, answer]
}

/** The middleware of the tools of agents (rule M2), in the order of rule D2. */
function mcpChain(
  priced: readonly PricedResource[],
  deps: RouteDeps,
  { limitStarted, accountLimited, checks }: SharedSteps,
): ApiMiddleware[] {
  const { credits, corsOrigins, serverUrl, logger, metrics, position, trustedProxies } = deps
  const requireScope: FollowToolDeps['requireScope'] = (ctx, scope) => {
    if (ctx.state.key !== undefined)
      requireKeyUse(ctx.state.key, scope, addressOfRequest(ctx, trustedProxies))
  }
  const tools = [
    ...resourceTools(
      priced.map((one) => ({ ...one, steps: [showCredits(credits), ...one.steps] })),
      requireScope,
    ),
    followTool({
      ...deps,
      walletCount: position.walletCount,
      requireScope,
      onCharged: (count) => metrics.creditsCharged.inc({ resource: '/mcp' }, count),
    }),
  ]
  return [
    showCredits(credits),
    limitStarted,
    requireOrigin(corsOrigins, serverUrl),
    authenticate(checks, null),
    accountLimited,
    limitBody,
    readBody,
    limitQuery,
    mcpEndpoint(tools, logFailures(logger)),
  ]
}

/** The middleware of a WebSocket handshake, for API keys and for dashboard tokens (rule F1). */
function feedChain(
  { credits, access, tokens, billing, feed, upgradeOf }: RouteDeps,
  { limited, accountLimited, dashboardLimited, checks }: SharedSteps,
): ApiMiddleware[] {
  const authenticated = compose([authenticateFeed(checks, tokens), requireEnabled(access)])
  return [
    showCredits(credits),
    limited,
    authenticated,
    (ctx, next) => (ctx.state.session ? dashboardLimited : accountLimited)(ctx, next),
    limitBody,
    limitQuery,
    requireCreditsOrPro(credits, billing),
    passLimits,
    // Once more, because the key or token may have been revoked while credits or Pro were read.
    authenticated,
    upgrade({ feed, upgradeOf, tokens, billing }),
  ]
}

/** Capacity of each of the two response caches, in bytes before compression. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024
