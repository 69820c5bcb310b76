import type { AccountAnswer } from '../items/account.ts'
import type { HeldTokenItem } from '../items/held-token.ts'
import type { HoldingItem } from '../items/holding.ts'
import type { SwapItem } from '../items/swap.ts'
import type { TokenItem } from '../items/token.ts'
import type { TradeItem } from '../items/trade.ts'
import type { WalletMetricsItem } from '../items/wallet-metrics.ts'
import type { WalletPositionItem } from '../items/wallet-position.ts'
import type { HeldTokensAnswer } from '../resources/held-tokens.ts'
import type { HoldingsAnswer } from '../resources/holdings.ts'
import type { SolPriceAnswer } from '../resources/prices-sol.ts'
import type { SearchAnswer } from '../resources/search.ts'
import type { StatusAnswer } from '../resources/status.ts'
import type { TokenSwapsAnswer } from '../resources/token-swaps.ts'
import type { TradesAnswer } from '../resources/trades.ts'
import type { WalletAggregatesAnswer } from '../resources/wallet-aggregates.ts'
import type { WalletHoldingsAnswer } from '../resources/wallet-holdings.ts'
import type { ProfitAnswer } from '../resources/wallet-pnl.ts'
import type { PositionsAnswer } from '../resources/wallet-positions.ts'
import type { WalletsAnswer } from '../resources/wallets.ts'
import {
  type Followed,
  type FollowOptions,
  type FollowViewsOptions,
  followFeed,
  followViews,
  type Viewed,
} from './follow.ts'
import { type CallOptions, type QueryValues, RestCalls } from './rest-calls.ts'

export { FeedEnded } from './feed-ended.ts'
export type { Followed, FollowOptions, FollowViewsOptions, Notice, Viewed } from './follow.ts'
export { logIn } from './log-in.ts'
export type { Delivery } from './read-delivery.ts'
export { NotVerified, readDelivery } from './read-delivery.ts'
export { Refused } from './refused.ts'
export type { AnsweredCall, CallOptions } from './rest-calls.ts'
export { isSameTrade } from './same-trade.ts'

/**
 * Client of the service: every product endpoint with typed responses, and the live feed as an async
 * iteration. Calls reject with `Refused` on an error response, and as `fetch` does when the service
 * cannot be reached; before that they are repeated (`CallOptions`).
 */
export class TrackedWallets {
  readonly #calls: RestCalls
  readonly #apiKey: string

  /** `url`: base URL of the service, for example `http://127.0.0.1:8080`. */
  constructor(options: CallOptions & { readonly url: string; readonly apiKey: string }) {
    const { url, apiKey, ...callOptions } = options
    this.#calls = new RestCalls(url, apiKey, callOptions)
    this.#apiKey = apiKey
  }

  /** `GET /wallets`: W1 to Wn, or with more than a page a leaderboard. */
  wallets(query: WalletsQuery & { readonly page?: number } = {}): Promise<WalletsAnswer> {
    return this.#calls.get('/wallets', query)
  }

  /** `GET /wallets/{alias}/metrics` */
  walletMetrics(alias: string): Promise<WalletMetricsItem> {
    return this.#calls.get(`/wallets/${encodeURIComponent(alias)}/metrics`)
  }

  /** `GET /wallets/{alias}/trades`: a page of a wallet's trades, newest first. */
  walletTrades(
    alias: string,
    query: { readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<TradesAnswer> {
    return this.#calls.get(`/wallets/${encodeURIComponent(alias)}/trades`, query)
  }

  /** `GET /wallets/{alias}/positions`: a page, the token with the newest event first. */
  walletPositions(
    alias: string,
    query: PositionsQuery & { readonly cursor?: string } = {},
  ): Promise<PositionsAnswer> {
    return this.#calls.get(`/wallets/${encodeURIComponent(alias)}/positions`, query)
  }

  /** `GET /wallets/{alias}/pnl`: profit at full hours or days, and now. */
  walletPnl(
    alias: string,
    query: {
      readonly interval?: ProfitAnswer['interval']
      /** Unix seconds. */
      readonly from?: number
      readonly to?: number
      readonly mode?: ProfitAnswer['mode']
    } = {},
  ): Promise<ProfitAnswer> {
    return this.#calls.get(`/wallets/${encodeURIComponent(alias)}/pnl`, query)
  }

  /** `GET /wallets/{alias}/holdings` */
  walletHoldings(alias: string): Promise<WalletHoldingsAnswer> {
    return this.#calls.get(`/wallets/${encodeURIComponent(alias)}/holdings`)
  }

  /** `GET /wallets/holdings` */
  holdings(query: HoldingsQuery & { readonly page?: number } = {}): Promise<HoldingsAnswer> {
    return this.#calls.get('/wallets/holdings', query)
  }

  /** `GET /tokens/held` */
  heldTokens(
    query: { readonly min_wallets?: number; readonly page?: number } = {},
  ): Promise<HeldTokensAnswer> {
    return this.#calls.get('/tokens/held', query)
  }

  /** `GET /tokens/{mint}`: facts, price, holders and activity of a token. */
  token(mint: string): Promise<TokenItem> {
    return this.#calls.get(`/tokens/${encodeURIComponent(mint)}`)
  }

  /** `GET /tokens/{mint}/swaps` */
  tokenSwaps(
    mint: string,
    query: { readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<TokenSwapsAnswer> {
    return this.#calls.get(`/tokens/${encodeURIComponent(mint)}/swaps`, query)
  }

  /** `GET /tokens/{mint}/wallet-aggregates` */
  tokenAggregates(mint: string): Promise<WalletAggregatesAnswer> {
    return this.#calls.get(`/tokens/${encodeURIComponent(mint)}/wallet-aggregates`)
  }

  /**
   * `GET /trades`: a page of the trades that match, newest first. `head` is the position to follow
   * the feed from (`follow({ after: head })`), so that no trade is missed or repeated.
   */
  async trades(
    query: TradesQuery & { readonly cursor?: string } = {},
  ): Promise<TradesAnswer & { readonly head: string }> {
    const { body, headers } = await this.#calls.getResponse<TradesAnswer>('/trades', query)
    return { ...body, head: headers.get('x-head-cursor') ?? '' }
  }

  /** All trades that match, newest first, over all pages. Each page is charged when it is read. */
  eachTrade(query: TradesQuery = {}): AsyncGenerator<TradeItem, void, undefined> {
    return eachByCursor((cursor) => this.trades({ limit: 100, ...query, ...cursor }))
  }

  /** All trades of a wallet, as `eachTrade`. */
  eachWalletTrade(alias: string): AsyncGenerator<TradeItem, void, undefined> {
    return eachByCursor((cursor) => this.walletTrades(alias, { limit: 100, ...cursor }))
  }

  /** All positions of a wallet that match, as `eachTrade`; without those that trade meanwhile. */
  eachWalletPosition(
    alias: string,
    query: PositionsQuery = {},
  ): AsyncGenerator<WalletPositionItem, void, undefined> {
    return eachByCursor((cursor) =>
      this.walletPositions(alias, { limit: 200, ...query, ...cursor }),
    )
  }

  /** All swaps of a token, as `eachTrade`. */
  eachTokenSwap(mint: string): AsyncGenerator<SwapItem, void, undefined> {
    return eachByCursor((cursor) => this.tokenSwaps(mint, { limit: 200, ...cursor }))
  }

  /** All wallets of a list, over all pages. A leaderboard changes each hour. */
  eachWallet(
    query: WalletsQuery = {},
  ): AsyncGenerator<WalletsAnswer['items'][number], void, undefined> {
    return eachByPage((page) => this.wallets({ ...query, page }))
  }

  /** All holdings that match. A list that changes meanwhile may repeat or skip some. */
  eachHolding(query: HoldingsQuery = {}): AsyncGenerator<HoldingItem, void, undefined> {
    return eachByPage((page) => this.holdings({ ...query, page }))
  }

  /** All tokens that several wallets hold, as `eachHolding`. */
  eachHeldToken(
    query: { readonly min_wallets?: number } = {},
  ): AsyncGenerator<HeldTokenItem, void, undefined> {
    return eachByPage((page) => this.heldTokens({ ...query, page }))
  }

  /** `GET /prices/sol`: SOL in USD at a time (unix seconds), by default now. */
  solPrice(query: { readonly at?: number } = {}): Promise<SolPriceAnswer> {
    return this.#calls.get('/prices/sol', query)
  }

  /**
   * `GET /search`: wallets by alias, and tokens by address, symbol or name; at most 20, best first.
   */
  search(q: string): Promise<SearchAnswer> {
    return this.#calls.get('/search', { q })
  }

  /** `GET /account`: balance, plan, limits and usage of the key's account; free. */
  account(): Promise<AccountAnswer> {
    return this.#calls.get('/account')
  }

  /** `GET /status` */
  status(): Promise<StatusAnswer> {
    return this.#calls.get('/status')
  }

  /**
   * Follows trades live, from now or after a position. Yields each trade once, also over lost
   * connections and restarts of the service. Ends when `signal` is aborted. Throws `FeedEnded` when
   * reconnecting would not help.
   */
  follow(options: FollowOptions = {}): AsyncGenerator<Followed, void, undefined> {
    return followFeed({ url: this.#calls.feedUrl, bearer: this.#apiKey }, options)
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
    return followViews({ url: this.#calls.feedUrl, bearer: token }, options)
  }
}

/** A leaderboard of wallets; without any of these, all wallets are listed, W1 to Wn. */
export interface WalletsQuery extends QueryValues {
  readonly sort?: 'score' | 'pnl' | 'winrate' | 'trades' | 'volume'
  readonly order?: 'desc' | 'asc'
  readonly status?: 'scored' | 'review' | 'disqualified'
  readonly min_trades?: number
  readonly period?: '7d' | '30d' | 'all'
  readonly mode?: 'raw' | 'strict'
}

/** Which trades are listed; all by default. `from` (inclusive) and `to` are unix seconds. */
export interface TradesQuery extends QueryValues {
  readonly limit?: number
  readonly wallet?: string
  readonly mint?: string
  readonly side?: 'buy' | 'sell'
  readonly from?: number
  readonly to?: number
}

/** Which positions are listed, and how they are folded; open ones with transfers by default. */
export interface PositionsQuery extends QueryValues {
  readonly status?: PositionsAnswer['status']
  readonly mode?: PositionsAnswer['mode']
  readonly limit?: number
}

/** Which holdings are listed; all by default. */
export interface HoldingsQuery extends QueryValues {
  readonly alias?: string
  readonly min_holding_seconds?: number
  readonly max_holding_seconds?: number
}

async function* eachByCursor<Item>(
  read: (cursor: { readonly cursor?: string }) => Promise<{
    readonly items: readonly Item[]
    readonly next_cursor: string | null
  }>,
): AsyncGenerator<Item, void, undefined> {
  for (let cursor: { readonly cursor?: string } | null = {}; cursor !== null; ) {
    const { items, next_cursor: next } = await read(cursor)
    yield* items
    cursor = next === null ? null : { cursor: next }
  }
}

async function* eachByPage<Item>(
  read: (page: number) => Promise<{ readonly items: readonly Item[]; readonly has_more: boolean }>,
): AsyncGenerator<Item, void, undefined> {
  for (let page = 1; ; page += 1) {
    const { items, has_more: hasMore } = await read(page)
    yield* items
    if (!hasMore) return
  }
}
