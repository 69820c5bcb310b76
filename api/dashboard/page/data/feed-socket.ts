import { type FeedNotice, isFinalMessage, messageNotice } from './feed-notices.ts'

/** The state of a feed connection. `ended`: it does not reconnect; `notice` says why. */
export type SocketState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'reconnecting' }
  | { readonly kind: 'ended'; readonly notice: FeedNotice }

/** A message of `GET /ws`, with the members that all channels share. */
export interface SocketMessage {
  readonly channel?: string
  readonly snapshot?: boolean
  readonly event?: string
  readonly id?: string
  readonly trade_id?: string
  readonly type?: string
  readonly code?: string
  readonly message?: string
  readonly cursor?: string
  readonly oldest?: string
  readonly balance_credits?: number
}

/** Subscription and callbacks of a feed connection. */
export interface SocketOptions {
  readonly url: string
  /** An API key or a dashboard token. It is sent as a WebSocket subprotocol, never in the URL. */
  readonly credential: string
  readonly channels: readonly string[]
  readonly wallets?: readonly string[]
  readonly mints?: readonly string[]
  /** The position to resume after. Without one, the feed starts now. */
  readonly after?: string | undefined
  /** Receives every message but heartbeats, in order. */
  onMessage(message: SocketMessage): void
  onState(state: SocketState): void
  /** Receives the text for each control message that needs one. */
  onNotice(notice: FeedNotice): void
  /**
   * Finds out why a connection was refused, which browsers do not tell. Resolves with null if the
   * next attempt may succeed.
   */
  explainRefusal(): Promise<FeedNotice | null>
}

/** The part of the browser's `WebSocket` that the feed uses. */
export interface SocketLike {
  onopen: (() => void) | null
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onclose: (() => void) | null
  send(text: string): void
  close(): void
}

/** Sockets, timers and randomness, which tests replace. */
export interface SocketEnvironment {
  open(url: string, protocols: string[]): SocketLike
  /** Runs `callback` after `ms` milliseconds. Returns the function that cancels it. */
  schedule(ms: number, callback: () => void): () => void
  random(): number
}

/** An open feed. `position` returns the position of its last message, to resume after. */
export interface ResumableFeed {
  stop(): void
  position(): string | undefined
}

/**
 * Subscribes to channels of `GET /ws`. After a lost connection it reconnects with backoff up to
 * 20 s and resumes after the last message, so no message is missed or repeated (rule F4).
 * It does not reconnect if the service refuses the credential or ended the feed.
 */
export function openFeedSocket(
  options: SocketOptions,
  environment: SocketEnvironment = BROWSER,
): ResumableFeed {
  const feed = new ResumableFeedSocket(options, environment)
  feed.connect()
  return feed
}

class ResumableFeedSocket implements ResumableFeed {
  readonly #options: SocketOptions
  readonly #environment: SocketEnvironment
  #position: string | undefined
  /** Attempts since the last data message. */
  #attempts = 0
  #isStopped = false
  #socket: SocketLike | null = null
  /** Cancels the heartbeat timeout or the scheduled reconnect. */
  #cancelTimer = () => {}

  constructor(options: SocketOptions, environment: SocketEnvironment) {
    this.#options = options
    this.#environment = environment
    this.#position = options.after
  }

  position(): string | undefined {
    return this.#position
  }

  stop(): void {
    this.#end(null)
  }

  connect(): void {
    const { url, credential, onState } = this.#options
    onState({ kind: 'connecting' })
    const socket = this.#environment.open(url, ['bearer', credential])
    this.#socket = socket
    let hasOpened = false
    socket.onopen = () => {
      hasOpened = true
      this.#restartHeartbeatTimeout(socket)
      socket.send(JSON.stringify(this.#subscription()))
    }
    socket.onmessage = ({ data }) => {
      if (this.#isStopped || typeof data !== 'string') return
      this.#restartHeartbeatTimeout(socket)
      this.#receive(JSON.parse(data) as SocketMessage) // a message of the API documents
    }
    socket.onclose = () => this.#onClose(hasOpened)
  }

  #subscription() {
    const { channels, wallets = [], mints = [] } = this.#options
    return {
      action: 'subscribe',
      channels,
      ...(wallets.length > 0 && { wallets }),
      ...(mints.length > 0 && { mints }),
      ...(this.#position !== undefined && { after: this.#position }),
    }
  }

  #restartHeartbeatTimeout(socket: SocketLike): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#environment.schedule(HEARTBEAT_TIMEOUT_MS, () => socket.close())
  }

  #receive(message: SocketMessage): void {
    const { type = '', channel } = message
    if (type === 'ping' || type === 'pong') return
    this.#advance(message)
    if (type === 'subscribed' && channel === undefined) this.#options.onState({ kind: 'live' })
    this.#options.onMessage(message)
    if (channel !== undefined) return
    const notice = messageNotice({ ...message, type })
    if (type === 'error' || isFinalMessage(type))
      this.#end(notice ?? { tone: 'bad', text: `The service ended the feed (${type}).` })
    // On the free channels a snapshot follows a gap, so nothing is missing.
    else if (notice !== null && !(type === 'gap' && !this.#options.channels.includes('trades')))
      this.#options.onNotice(notice)
  }

  /** Moves the position to resume after. */
  #advance({ type, channel, id, cursor, oldest }: SocketMessage): void {
    if (channel !== undefined) {
      this.#attempts = 0
      this.#position = id ?? this.#position
    } else if (type === 'subscribed') this.#position ??= cursor
    else if (type === 'retracted') this.#position = id ?? this.#position
    else if (type === 'snapshot_complete') this.#position = cursor ?? this.#position
    else if (type === 'gap') this.#position = oldest ?? this.#position
  }

  #onClose(hasOpened: boolean): void {
    if (this.#isStopped) return
    this.#cancelTimer()
    this.#options.onState({ kind: 'reconnecting' })
    if (hasOpened) {
      this.#reconnect()
      return
    }
    this.#options.explainRefusal().then(
      (notice) => (notice === null ? this.#reconnect() : this.#end(notice)),
      () => this.#reconnect(),
    )
  }

  #reconnect(): void {
    if (this.#isStopped) return
    const { schedule, random } = this.#environment
    const backoffMs = Math.min(20_000, 500 * 2 ** this.#attempts++)
    this.#cancelTimer = schedule(backoffMs * (0.5 + random() / 2), () => this.connect())
  }

  #end(notice: FeedNotice | null): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#cancelTimer()
    this.#socket?.close()
    if (notice !== null) this.#options.onState({ kind: 'ended', notice })
  }
}

/** The service sends a message at least every 30 s. */
const HEARTBEAT_TIMEOUT_MS = 75_000

const BROWSER: SocketEnvironment = {
  // The cast is safe: a WebSocket's events have all members that `SocketLike` declares.
  open: (url, protocols) => new WebSocket(url, protocols) as SocketLike,
  schedule(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
  random: Math.random,
}

/** Returns the URL of the feed for a page of this service. */
export function feedUrl(location: { readonly protocol: string; readonly host: string }): string {
  return `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}/ws`
}
