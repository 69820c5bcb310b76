import { type ApiFailure, type ApiResult, callApi } from '../call-api.ts'
import { type FeedNotice, refusalNotice } from './feed-notices.ts'
import {
  feedUrl,
  openFeedSocket,
  type ResumableFeed,
  type SocketMessage,
  type SocketState,
} from './feed-socket.ts'

/** Data source of a Pro page, and the functions that turn responses and messages into its state. */
export interface LiveViewRules<State, Body> {
  /** Path of the REST response with the whole state. */
  readonly path: string
  readonly channel: 'watchlist' | 'signals'
  /** Returns the state for a response received at `now` (unix seconds). */
  readonly fromResponse: (body: Body, now: number, before: State | null) => State
  /** Returns the state after messages of the channel, in order. */
  readonly applyMessages: (state: State, messages: readonly SocketMessage[], now: number) => State
}

/** Callbacks by which a live view informs its component. */
export interface LiveViewListener<State> {
  onData(change: (before: State | null) => State | null): void
  onConnection(state: SocketState): void
  onFailure(failure: ApiFailure | null): void
  onNotice(notice: FeedNotice): void
}

const POLL_INTERVAL_MS = 10_000
const FLUSH_INTERVAL_MS = 250

/**
 * Keeps the state of a Pro page up to date: one REST request, then the WebSocket. While the
 * WebSocket is not connected, it polls every 10 s. Neither costs credits.
 */
export class LiveViewConnection<State, Body> {
  readonly #rules: LiveViewRules<State, Body>
  readonly #token: string
  readonly #listener: LiveViewListener<State>
  #pending: SocketMessage[] = []
  #socket: ResumableFeed | null = null
  #isLive = false
  /** The service refused the request for a reason that polling does not change. */
  #isRefused = false
  #isClosed = false
  #timers: readonly ReturnType<typeof setInterval>[] = []

  constructor(rules: LiveViewRules<State, Body>, token: string, listener: LiveViewListener<State>) {
    this.#rules = rules
    this.#token = token
    this.#listener = listener
  }

  /** Loads the state, then opens the WebSocket. Without a first response it does neither again. */
  open(): void {
    this.#timers = [
      setInterval(() => this.#flush(), FLUSH_INTERVAL_MS),
      setInterval(() => this.#poll(), POLL_INTERVAL_MS),
    ]
    this.#load().then((result) => {
      if (!this.#isClosed && result.kind === 'ok') this.#connect()
    })
  }

  close(): void {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    this.#socket?.stop()
  }

  async #load(): Promise<ApiResult<Body>> {
    const result = await callApi<Body>(this.#rules.path, 'token')
    if (this.#isClosed) return result
    if (result.kind !== 'ok') {
      this.#isRefused = result.kind === 'refused' && result.status < 429
      this.#listener.onFailure(result)
      return result
    }
    this.#listener.onFailure(null)
    const now = Date.now() / 1000
    // Messages that the WebSocket has delivered meanwhile are newer than the response.
    const isOutdated = this.#isLive
    this.#listener.onData((before) =>
      isOutdated ? before : this.#rules.fromResponse(result.body, now, before),
    )
    return result
  }

  #poll(): void {
    if (this.#isLive || this.#socket === null || this.#isRefused || document.hidden) return
    void this.#load()
  }

  #connect(): void {
    this.#socket = openFeedSocket({
      url: feedUrl(location),
      credential: this.#token,
      channels: [this.#rules.channel],
      onMessage: (message) => this.#pending.push(message),
      onState: (state) => {
        this.#isLive = state.kind === 'live'
        this.#listener.onConnection(state)
      },
      onNotice: (notice) => this.#listener.onNotice(notice),
      explainRefusal: async () => {
        const result = await callApi(this.#rules.path, 'token')
        return result.kind === 'refused' ? refusalNotice(result.code) : null
      },
    })
  }

  #flush(): void {
    if (this.#pending.length === 0) return
    const messages = this.#pending
    this.#pending = []
    const now = Date.now() / 1000
    this.#listener.onData((before) =>
      before === null ? before : this.#rules.applyMessages(before, messages, now),
    )
  }
}
