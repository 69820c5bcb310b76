import type { AccountAnswer } from '../items/account.ts'
import type { WalletMetricsItem } from '../items/wallet-metrics.ts'
import type { HeldTokensAnswer } from '../resources/held-tokens.ts'
import type { HoldingsAnswer } from '../resources/holdings.ts'
import type { SolPriceAnswer } from '../resources/prices-sol.ts'
import type { StatusAnswer } from '../resources/status.ts'
import type { TokenSwapsAnswer } from '../resources/token-swaps.ts'
import type { TradesAnswer } from '../resources/trades.ts'
import type { WalletAggregatesAnswer } from '../resources/wallet-aggregates.ts'
import type { WalletHoldingsAnswer } from '../resources/wallet-holdings.ts'
import type { WalletsAnswer } from '../resources/wallets.ts'
import {
  type Followed,
  type FollowOptions,
  type FollowViewsOptions,
  followFeed,
  followViews,
  type Viewed,
} from './follow.ts'

export { FeedEnded } from './feed-ended.ts'
export type { Followed, FollowOptions, FollowViewsOptions, Notice, Viewed } from './follow.ts'

/** An error response of the service (problem details, RFC 9457). Decide by `code`. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  /** Seconds after which a retry may help (`Retry-After`); null when the service does not say. */
  readonly retryAfter: number | null
  readonly requestId: string | null

  constructor(response: Response, problem: { readonly code?: string; readonly title?: string }) {
    super(problem.title ?? response.statusText)
    this.name = 'Refused'
    this.status = response.status
    this.code = problem.code ?? 'internal_error'
    const after = response.headers.get('retry-after')
    this.retryAfter = after === null ? null : Number(after)
    this.requestId = response.headers.get('x-request-id')
  }
}

type Query = Readonly<Record<string, string | number | undefined>>

/**
 * Client of the service: every product endpoint with typed responses, and the live feed as an async
 * iteration. Calls reject with `Refused` on an error response, and as `fetch` does when the service
 * cannot be reached.
 */
export class TrackedWallets {
  readonly #url: string
  readonly #apiKey: string

  /** `url`: base URL of the service, for example `http://127.0.0.1:8080`. */
  constructor(options: { readonly url: string; readonly apiKey: string }) {
    this.#url = options.url.replace(/\/$/, '')
    this.#apiKey = options.apiKey
  }

  /** `GET /wallets` */
  wallets(query: { readonly page?: number } = {}): Promise<WalletsAnswer> {
    return this.#get('/wallets', query)
  }

  /** `GET /wallets/{alias}/metrics` */
  walletMetrics(alias: string): Promise<WalletMetricsItem> {
    return this.#get(`/wallets/${encodeURIComponent(alias)}/metrics`)
  }

  /** `GET /wallets/{alias}/trades`: a page of a wallet's trades, newest first. */
  walletTrades(
    alias: string,
    query: { readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<TradesAnswer> {
    return this.#get(`/wallets/${encodeURIComponent(alias)}/trades`, query)
  }

  /** `GET /wallets/{alias}/holdings` */
  walletHoldings(alias: string): Promise<WalletHoldingsAnswer> {
    return this.#get(`/wallets/${encodeURIComponent(alias)}/holdings`)
  }

  /** `GET /wallets/holdings` */
  holdings(
    query: {
      readonly alias?: string
      readonly min_holding_seconds?: number
      readonly max_holding_seconds?: number
      readonly page?: number
    } = {},
  ): Promise<HoldingsAnswer> {
    return this.#get('/wallets/holdings', query)
  }

  /** `GET /tokens/held` */
  heldTokens(
    query: { readonly min_wallets?: number; readonly page?: number } = {},
  ): Promise<HeldTokensAnswer> {
    return this.#get('/tokens/held', query)
  }

  /** `GET /tokens/{mint}/swaps` */
  tokenSwaps(
    mint: string,
    query: { readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<TokenSwapsAnswer> {
    return this.#get(`/tokens/${encodeURIComponent(mint)}/swaps`, query)
  }

  /** `GET /tokens/{mint}/wallet-aggregates` */
  tokenAggregates(mint: string): Promise<WalletAggregatesAnswer> {
    return this.#get(`/tokens/${encodeURIComponent(mint)}/wallet-aggregates`)
  }

  /**
   * `GET /trades`: a page of the trades that match, newest first. `head` is the position to follow
   * the feed from (`follow({ after: head })`), so that no trade is missed or repeated.
   */
  async trades(
    query: {
      readonly limit?: number
      readonly cursor?: string
      readonly wallet?: string
      readonly mint?: string
      readonly side?: 'buy' | 'sell'
      readonly from?: number
      readonly to?: number
    } = {},
  ): Promise<TradesAnswer & { readonly head: string }> {
    const response = await this.#fetch('/trades', query)
    const answer = (await response.json()) as TradesAnswer // responses match the schemas
    return { ...answer, head: response.headers.get('x-head-cursor') ?? '' }
  }

  /** `GET /prices/sol`: SOL in USD at a time (unix seconds), by default now. */
  solPrice(query: { readonly at?: number } = {}): Promise<SolPriceAnswer> {
    return this.#get('/prices/sol', query)
  }

  /** `GET /account`: balance, plan, limits and usage of the key's account; free. */
  account(): Promise<AccountAnswer> {
    return this.#get('/account')
  }

  /** `GET /status` */
  status(): Promise<StatusAnswer> {
    return this.#get('/status')
  }

  /**
   * Follows trades live, from now or after a position. Yields each trade once, also over lost
   * connections and restarts of the service. Ends when `signal` is aborted. Throws `FeedEnded` when
   * reconnecting would not help.
   */
  follow(options: FollowOptions = {}): AsyncGenerator<Followed, void, undefined> {
    const url = `${this.#url.replace(/^http/, 'ws')}/ws`
    return followFeed({ url, bearer: this.#apiKey }, options)
  }

  /**
   * Follows the trending watchlist and signals, for a wallet with active Pro. `token` is a
   * dashboard token of `POST /auth/login`. Yields a snapshot first, unless `after` is given; then
   * each change once, also over lost connections. Ends like `follow`.
   */
  followViews({
    token,
    ...options
  }: FollowViewsOptions & { readonly token: string }): AsyncGenerator<Viewed, void, undefined> {
    const url = `${this.#url.replace(/^http/, 'ws')}/ws`
    return followViews({ url, bearer: token }, options)
  }

  async #get<Body>(path: string, query: Query = {}): Promise<Body> {
    const response = await this.#fetch(path, query)
    return (await response.json()) as Body // responses match the schemas
  }

  async #fetch(path: string, query: Query): Promise<Response> {
    const url = new URL(`${this.#url}${path}`)
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value))
    const response = await fetch(url, { headers: { authorization: `Bearer ${this.#apiKey}` } })
    if (response.ok) return response
    const problem: unknown = await response.json().catch(() => ({}))
    throw new Refused(response, typeof problem === 'object' && problem !== null ? problem : {})
  }
}
