import type { TradeItem } from '../../../items/trade.ts'
import { type Atom, createAtom } from '../atom.ts'
import { type ApiFailure, callApi } from '../call-api.ts'
import { type FeedNotice, refusalNotice } from './feed-notices.ts'
import {
  feedUrl,
  openFeedSocket,
  type ResumableFeed,
  type SocketMessage,
  type SocketState,
} from './feed-socket.ts'
import {
  appendHistory,
  EMPTY_TRADE_LIST,
  insertLiveTrades,
  type TradeFilter,
  type TradeList,
  type TradeListMessage,
} from './trade-list.ts'

/** How many trades the list keeps. Older trades are removed. */
export const MAX_LISTED_TRADES = 500

/** Prices in credits: a page of history, and a live trade. */
export const FEED_PRICES = { history: 3, message: 1 } as const

/** State of the feed. `idle`: not started. `paused`: stopped by the customer or the budget. */
export type FeedPhase = { readonly kind: 'idle' } | { readonly kind: 'paused' } | SocketState

/** Whether the feed is connected, or will be again. */
export function isFollowing({ kind }: FeedPhase): boolean {
  return kind === 'connecting' || kind === 'live' || kind === 'reconnecting'
}

/** The state of the live trades page. */
export interface TradeFeedState {
  readonly phase: FeedPhase
  readonly list: TradeList
  /** Credits spent since the sign-in, less those given back for withdrawn live trades. */
  readonly spent: { readonly history: number; readonly messages: number }
  /** Newest first. */
  readonly notices: readonly FeedNotice[]
  readonly failure: ApiFailure | null
  readonly isLoading: boolean
  /** Cursor of the next older page of history. Null if there is none. */
  readonly olderCursor: string | null
  /** Whether the feed stopped at a known position. */
  readonly canResume: boolean
}

interface TradesResponse {
  readonly items: readonly TradeItem[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

type TradeMessage = SocketMessage & TradeListMessage

/** The requests and sockets of a trade feed, which tests replace. */
export interface TradeFeedTransport {
  readonly request: typeof callApi
  readonly openSocket: typeof openFeedSocket
  /** URL of the feed. */
  readonly url: () => string
}

/**
 * Trades of the tracked wallets: a page of history, then the live feed from its head. It counts the
 * credits spent, and pauses when the budget is used. Nothing is requested before `start`.
 */
export class LiveTradeFeed {
  readonly state: Atom<TradeFeedState>
  readonly #transport: TradeFeedTransport
  #socket: ResumableFeed | null = null
  #position: string | undefined
  #filter: TradeFilter = { wallets: [], mints: [] }
  /** Credits that may be spent before the feed pauses. */
  #budget = 0
  #used = 0
  /** Counts starts and stops, so that a start notices that it was stopped while loading. */
  #generation = 0
  /** Messages not yet in the list. The list renders a few times a second, not for each message. */
  #pending: TradeMessage[] = []

  constructor(transport: TradeFeedTransport = BROWSER) {
    this.#transport = transport
    this.state = createAtom(FRESH)
  }

  /**
   * Lists a page of history, then opens the feed from its head. `key` is that of the session,
   * `budget` is in credits.
   */
  async start(key: string, filter: TradeFilter, budget: number): Promise<void> {
    this.close()
    this.#pending = []
    this.#filter = filter
    this.#budget = budget
    this.#used = 0
    this.#position = undefined
    this.#update({ list: EMPTY_TRADE_LIST, notices: [], phase: { kind: 'connecting' } })
    const generation = this.#generation
    const history = await this.#loadHistory(null)
    if (generation !== this.#generation) return
    if (history === null) return this.#update({ phase: { kind: 'idle' } })
    this.#position = history.headCursor
    this.#open(key)
  }

  /** Opens the feed again, after the last trade or from now, and renews the budget. */
  resume(key: string, from: 'last_trade' | 'now'): void {
    if (from === 'now') this.#position = undefined
    this.#used = 0
    this.#update({ notices: [], failure: null })
    this.#open(key)
  }

  /** Closes the feed and remembers its position. */
  pause(): void {
    this.#stop()
    this.#update({ phase: { kind: 'paused' } })
  }

  /** Loads the next older page of history. */
  async loadOlder(): Promise<void> {
    const { olderCursor } = this.state.get()
    if (olderCursor !== null) await this.#loadHistory(olderCursor)
  }

  /** Shows a failure of a request that came before the start. */
  fail(failure: ApiFailure): void {
    this.#update({ failure })
  }

  /** Closes the feed and forgets everything. */
  reset(): void {
    this.close()
    this.#pending = []
    this.#position = undefined
    this.state.set(FRESH)
  }

  /** Moves received messages to the list. */
  flush(): void {
    const messages = this.#pending
    if (messages.length === 0) return
    this.#pending = []
    const charged = messages.filter(({ channel }) => channel !== undefined).length
    const { list: before, spent } = this.state.get()
    const list = insertLiveTrades(before, messages, MAX_LISTED_TRADES)
    const paid = charged - (list.givenBack - before.givenBack)
    this.#update({
      list,
      spent: { ...spent, messages: spent.messages + paid * FEED_PRICES.message },
    })
  }

  /** Closes the feed. */
  close(): void {
    this.#generation++
    this.#socket?.stop()
    this.#socket = null
  }

  #update(change: Partial<TradeFeedState>): void {
    const next = { ...this.state.get(), ...change }
    const isStopped = next.phase.kind === 'paused' || next.phase.kind === 'ended'
    this.state.set({ ...next, canResume: isStopped && this.#position !== undefined })
  }

  async #loadHistory(cursor: string | null): Promise<{ headCursor: string | undefined } | null> {
    this.#update({ isLoading: true, failure: null })
    const result = await this.#transport.request<TradesResponse>(
      `/trades?limit=100${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      'key',
    )
    if (result.kind !== 'ok') {
      this.#update({ isLoading: false, failure: result })
      return null
    }
    const { items, has_more, next_cursor } = result.body
    const { list, spent } = this.state.get()
    this.#used += FEED_PRICES.history
    this.#update({
      isLoading: false,
      list: appendHistory(list, items, this.#filter, MAX_LISTED_TRADES),
      spent: { ...spent, history: spent.history + FEED_PRICES.history },
      olderCursor: has_more ? next_cursor : null,
    })
    return { headCursor: result.headers.get('x-head-cursor') ?? undefined }
  }

  #open(key: string): void {
    this.#socket?.stop()
    this.#socket = this.#transport.openSocket({
      url: this.#transport.url(),
      credential: key,
      channels: ['trades'],
      wallets: this.#filter.wallets,
      mints: this.#filter.mints,
      after: this.#position,
      onMessage: (message) => this.#receive(message),
      onState: (state) => this.#onState(state),
      onNotice: (notice) => this.#notify(notice),
      explainRefusal: () => this.#explainRefusal(),
    })
  }

  #receive(message: SocketMessage): void {
    const isRetraction = message.type === 'retracted'
    if (message.channel === undefined && !isRetraction) return
    this.#pending.push(message as TradeMessage) // the only channel of the subscription
    if (isRetraction) return
    this.#used += FEED_PRICES.message
    if (this.#used < this.#budget) return
    this.pause()
    this.#notify({
      tone: 'warn',
      text: `Paused: the budget of ${this.#budget} credits is used up. Resume to spend as many again.`,
    })
  }

  #onState(state: SocketState): void {
    if (state.kind === 'ended') {
      this.#stop()
      this.#notify(state.notice)
    }
    this.#update({ phase: state })
  }

  #stop(): void {
    this.#position = this.#socket?.position() ?? this.#position
    this.close()
    this.flush()
  }

  #notify(notice: FeedNotice): void {
    const others = this.state.get().notices.filter(({ text }) => text !== notice.text)
    this.#update({ notices: [notice, ...others].slice(0, 5) })
  }

  /** Requests wallet W0, which cannot exist: the service always refuses, and refusals are free. */
  async #explainRefusal(): Promise<FeedNotice | null> {
    const result = await this.#transport.request('/wallets/W0/metrics', 'key')
    if (result.kind !== 'refused') return null
    const notice = refusalNotice(result.code)
    if (notice !== null) this.#update({ failure: result })
    return notice
  }
}

const FRESH: TradeFeedState = {
  phase: { kind: 'idle' },
  list: EMPTY_TRADE_LIST,
  spent: { history: 0, messages: 0 },
  notices: [],
  failure: null,
  isLoading: false,
  olderCursor: null,
  canResume: false,
}

const BROWSER: TradeFeedTransport = {
  request: callApi,
  openSocket: openFeedSocket,
  url: () => feedUrl(location),
}
