import type { WalletMetricsItem } from '../items/wallet-metrics.ts'
import type { HeldTokensAnswer } from '../resources/held-tokens.ts'
import type { HoldingsAnswer } from '../resources/holdings.ts'
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

export {
  FeedEnded,
  type Followed,
  type FollowOptions,
  type FollowViewsOptions,
  type Notice,
  type Viewed,
} from './follow.ts'

/** A refusal of the service (RFC 9457): `code` is what to decide by. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  /** Seconds after which trying again may help; null when the service does not say. */
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
 * The service as a program uses it: every product endpoint, typed by the schemas that the service answers by, and the live feed as one endless iteration. Each call rejects
 * with `Refused` when the service says no.
 */
export class TrackedWallets {
  readonly #url: string
  readonly #apiKey: string

  /** `url`: where the service is, as in `http://127.0.0.1:8080`. */
  constructor(options: { readonly url: string; readonly apiKey: string }) {
    this.#url = options.url.replace(/\/$/, '')
    this.#apiKey = options.apiKey
  }

  wallets(query: { readonly page?: number } = {}): Promise<WalletsAnswer> {
    return this.#get('/wallets', query)
  }

  walletMetrics(alias: string): Promise<WalletMetricsItem> {
    return this.#get(`/wallets/${encodeURIComponent(alias)}/metrics`)
  }

  walletHoldings(alias: string): Promise<WalletHoldingsAnswer> {
    return this.#get(`/wallets/${encodeURIComponent(alias)}/holdings`)
  }

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

  heldTokens(
    query: { readonly min_wallets?: number; readonly page?: number } = {},
  ): Promise<HeldTokensAnswer> {
    return this.#get('/tokens/held', query)
  }

  tokenSwaps(
    mint: string,
    query: { readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<TokenSwapsAnswer> {
    return this.#get(`/tokens/${encodeURIComponent(mint)}/swaps`, query)
  }

  tokenAggregates(mint: string): Promise<WalletAggregatesAnswer> {
    return this.#get(`/tokens/${encodeURIComponent(mint)}/wallet-aggregates`)
  }

  /** A page of trades, newest first; `head` is the position to follow the feed from (`follow({after: head})`), so that nothing is missed or repeated. */
  async trades(
    query: { readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<TradesAnswer & { readonly head: string }> {
    const response = await this.#ask('/trades', query)
    const answer = (await response.json()) as TradesAnswer // the service answers by its schemas
    return { ...answer, head: response.headers.get('x-head-cursor') ?? '' }
  }

  status(): Promise<StatusAnswer> {
    return this.#get('/status')
  }

  /**
   * Trades as they happen, from now on or after a position, each once, whatever happens to connection or service in between. Ends when `signal` is aborted; throws
   * `FeedEnded` when coming back would not help.
   */
  follow(options: FollowOptions = {}): AsyncGenerator<Followed, void, undefined> {
    const url = `${this.#url.replace(/^http/, 'ws')}/ws`
    return followFeed({ url, bearer: this.#apiKey }, options)
  }

  /**
   * The trending watchlist and signals as they change, for a wallet with active Pro; `token`: of its dashboard, from `POST /auth/login`. First a snapshot, unless a position is given
   * as `after`; then each change once, whatever happens to connection or service in between. Ends like `follow`.
   */
  followViews({
    token,
    ...options
  }: FollowViewsOptions & { readonly token: string }): AsyncGenerator<Viewed, void, undefined> {
    const url = `${this.#url.replace(/^http/, 'ws')}/ws`
    return followViews({ url, bearer: token }, options)
  }

  async #get<Body>(path: string, query: Query = {}): Promise<Body> {
    const response = await this.#ask(path, query)
    return (await response.json()) as Body // the service answers by its schemas
  }

  async #ask(path: string, query: Query): Promise<Response> {
    const url = new URL(`${this.#url}${path}`)
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value))
    const response = await fetch(url, { headers: { authorization: `Bearer ${this.#apiKey}` } })
    if (response.ok) return response
    const problem: unknown = await response.json().catch(() => ({}))
    throw new Refused(response, typeof problem === 'object' && problem !== null ? problem : {})
  }
}
