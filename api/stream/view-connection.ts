import type { Viewer } from '../middleware/upgrade.ts'
import type { ViewChannel } from './messages.ts'
import { readMessage, type Subscribe } from './protocol.ts'
import {
  type EndReason,
  type MessageLimit,
  ProtocolHandler,
  type Transport,
} from './protocol-handler.ts'
import { endOfTick, startOfSnapshot, type ViewPosition } from './view-position.ts'
import type { ViewBatch, ViewEntry, ViewRelay } from './view-relay.ts'
import { ViewerAccess } from './viewer-access.ts'

/** Dependencies of a dashboard's connection. */
export interface ViewConnectionDeps {
  readonly transport: Transport
  readonly limit: MessageLimit
  readonly relay: ViewRelay
  readonly viewer: Viewer
  /** Unix milliseconds by the wall clock. */
  readonly now: () => number
  /** Called with the number of messages just sent. */
  onSent(messages: number): void
  /** Called once, when the service ends the connection. */
  onEnd(reason: EndReason): void
  /** The pause before a failed read of storage is retried; default: 200 ms. */
  readonly pause?: () => Promise<unknown>
}

/**
 * A dashboard's connection to the channels `watchlist` and `signals` (rule F1). They are free and
 * last as long as the token and Pro. A live connection has every message up to the newest tick and
 * gets the changes of the next one. Otherwise it catches up from a position by pages, as fast as
 * the client reads.
 */
export class ViewConnection {
  readonly #deps: ViewConnectionDeps
  readonly #protocol: ProtocolHandler<ViewPosition>
  readonly #access: ViewerAccess
  #channels: ReadonlySet<ViewChannel> = new Set()
  #mints: ReadonlySet<string> | null = null
  /** Null: before the snapshot of the first tick, which is still to come. */
  #position: ViewPosition | null = null
  /** Whether `#catchUp` runs. It runs once at a time and reads one page at a time. */
  #isCatchingUp = false
  /** Counts subscriptions: a page read for an earlier one is not sent. */
  #generation = 0
  /** Seconds of ticks that the next page covers. */
  #pageSeconds = FIRST_PAGE_SECONDS

  constructor(deps: ViewConnectionDeps) {
    const { transport, relay, viewer, now } = deps
    this.#deps = deps
    this.#access = new ViewerAccess({ viewer, now, end: (reason) => this.end(reason) })
    const reading = {
      access: 'session',
      isTracked: () => false,
      decodeCursor: (text: string) => relay.decode(text),
    } as const
    this.#protocol = new ProtocolHandler({
      transport,
      limit: deps.limit,
      read: (text) => readMessage(text, reading),
      onSubscribe: (message) => this.#onSubscribe(message),
      onUnsubscribe: (channels) => {
        const rest = [...this.#channels].filter((channel) => !channels.includes(channel))
        this.#channels = new Set(rest)
      },
      isSubscribed: () => this.#channels.size > 0,
      onEnd: deps.onEnd,
    })
  }

  /** The `jti` of the dashboard token. */
  get tokenId(): string {
    return this.#deps.viewer.tokenId
  }

  /** Whether the token belongs to this wallet and to an earlier generation than this one. */
  hasTokenBefore(wallet: string, generation: number): boolean {
    const { viewer } = this.#deps
    return viewer.wallet === wallet && viewer.generation < generation
  }

  /** Delivers the changes of a tick. With null the connection reads them by pages. */
  deliver(batch: ViewBatch | null): void {
    if (!this.#protocol.isOpen || this.#channels.size === 0 || !this.#isAllowed()) return
    if (this.#isCatchingUp) return
    const { part, at } = this.#position ?? {}
    if (batch === null || part !== 'end' || at !== batch.from) {
      void this.#catchUp()
      return
    }
    if (this.#protocol.isSlow) {
      this.end('slow_reader')
      return
    }
    this.#deliverLive(batch)
  }

  #deliverLive(batch: ViewBatch): void {
    const { transport, onSent } = this.#deps
    transport.cork()
    let sent = 0
    for (const entry of batch.entries) {
      if (!this.#matches(entry)) continue
      transport.write(entry.frame)
      sent++
    }
    transport.uncork()
    onSent(sent)
    this.#position = endOfTick(batch.to)
  }

  /** Handles a message of the client; `text` is null for a binary one. */
  receive(text: string | null, bytes: number): void {
    if (this.#isAllowed()) this.#protocol.receive(text, bytes)
  }

  /** Sends a heartbeat and checks whether the token was revoked; call it every 30 s. */
  heartbeat(): void {
    if (this.#protocol.heartbeat()) this.#access.checkRevocation()
  }

  /** Ends the connection if its token or Pro has ended; call it every second. */
  checkAccess(): void {
    if (this.#isAllowed()) this.#access.refreshPro()
  }

  /** Ends the connection if its token was revoked. */
  checkToken(): void {
    this.#access.checkRevocation()
  }

  /** Handles a protocol ping. */
  onPing(): void {
    this.#protocol.countMessage()
  }

  /** Handles a protocol pong. */
  onPong(): void {
    this.#protocol.onPong()
  }

  /** Sends the reason and closes the connection. */
  end(reason: EndReason): void {
    this.#protocol.end(reason)
  }

  /** Records that the socket was closed. */
  onSocketClosed(): void {
    this.#protocol.onSocketClosed()
  }

  #onSubscribe({ channels, mints, after, unknown }: Subscribe<ViewPosition>): void {
    const { relay } = this.#deps
    this.#channels = new Set(channels.filter((channel) => channel !== 'trades'))
    this.#mints = mints && new Set(mints)
    const start = relay.newest === null ? null : startOfSnapshot(relay.newest)
    this.#position = after === null || after.at === 0 ? start : after
    const cursor = relay.encode(this.#position ?? startOfSnapshot(0))
    this.#protocol.send({ type: 'subscribed', channels, wallets: null, mints, cursor, unknown })
    this.#pageSeconds = FIRST_PAGE_SECONDS
    this.#generation++
    void this.#catchUp()
  }

  /**
   * Sends what lies between the position and now, page by page. If a new subscription replaces the
   * current one meanwhile, it continues with that.
   */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return
    const { pause = pauseShortly } = this.#deps
    this.#isCatchingUp = true
    let failures = 0
    while (!this.#isOver()) {
      const generation = this.#generation
      const isStale = () => this.#isOver() || generation !== this.#generation
      const position = this.#nextPosition()
      if (position === null) break
      try {
        if (await this.#sendPage(position, isStale)) failures = 0
      } catch {
        if (isStale()) continue
        if (++failures > MAX_FAILURES) this.end('unavailable')
        else await pause()
      }
    }
    this.#isCatchingUp = false
  }

  #isOver(): boolean {
    return !this.#protocol.isOpen || this.#channels.size === 0
  }

  /** The position to read from; null when the connection has everything up to the newest tick. */
  #nextPosition(): ViewPosition | null {
    const { relay } = this.#deps
    if (this.#position === null && relay.newest !== null)
      this.#position = startOfSnapshot(relay.newest)
    const position = this.#position
    if (position === null || relay.isReached(position)) return null
    // The client's position is ahead of this process. `deliver` continues at that tick.
    return position.at > (relay.newest ?? 0) ? null : position
  }

  /**
   * Reads and sends the page after a position. Returns whether storage answered in time to send.
   */
  async #sendPage(position: ViewPosition, isStale: () => boolean): Promise<boolean> {
    const { relay, viewer, transport } = this.#deps
    const reader = { wallet: viewer.wallet, isStale }
    const page = await relay.page(position, this.#pageSeconds, reader)
    if (page === null || isStale()) return false
    if (page.gap !== null) transport.write(page.gap)
    if (!(await this.#send(page.entries, isStale))) return true
    this.#position = page.end
    if (page.isSnapshot)
      this.#protocol.send({ type: 'snapshot_complete', cursor: relay.encode(page.end) })
    this.#adaptPageSeconds(page.entries.length)
    return true
  }

  /** Sends entries as fast as the client reads. Returns false if it stopped before the last one. */
  async #send(entries: readonly ViewEntry[], isStale: () => boolean): Promise<boolean> {
    const { transport, onSent } = this.#deps
    for (let next = 0; next < entries.length; ) {
      if (!this.#isAllowed()) return false
      let [bytes, sent] = [0, 0]
      transport.cork()
      for (; next < entries.length && bytes < MAX_AHEAD_BYTES; next++) {
        const entry = entries[next]
        if (entry === undefined || !this.#matches(entry)) continue
        transport.write(entry.frame)
        this.#position = entry.after
        bytes += entry.frame.length
        sent++
      }
      transport.uncork()
      onSent(sent)
      // Resolves when the client has read it. If it hangs up this never resolves and is collected.
      if (bytes > 0) await new Promise<void>((resolve) => transport.write(EMPTY, resolve))
      if (isStale()) return false
    }
    return this.#isAllowed()
  }

  /** Keeps pages at about the same number of messages, however much changes at a tick. */
  #adaptPageSeconds(entries: number): void {
    if (entries < SMALL_PAGE) this.#pageSeconds = Math.min(this.#pageSeconds * 2, MAX_PAGE_SECONDS)
    else if (entries > LARGE_PAGE)
      this.#pageSeconds = Math.max(Math.floor(this.#pageSeconds / 2), 1)
  }

  #matches({ channel, mint }: ViewEntry): boolean {
    return this.#channels.has(channel) && (this.#mints === null || this.#mints.has(mint))
  }

  /** Ends the connection if its token or Pro has ended. Returns whether it is open. */
  #isAllowed(): boolean {
    if (this.#protocol.isOpen) this.#access.enforce()
    return this.#protocol.isOpen
  }
}

/** Maximum number of bytes written before waiting for the client to read. */
const MAX_AHEAD_BYTES = 256 * 1024
const EMPTY = Buffer.alloc(0)
/** Consecutive failures of storage after which the client is told to reconnect. */
const MAX_FAILURES = 20
const FIRST_PAGE_SECONDS = 10
const MAX_PAGE_SECONDS = 3600
/** Numbers of messages below and above which the next page covers more or fewer seconds. */
const SMALL_PAGE = 500
const LARGE_PAGE = 2000

function pauseShortly(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 200).unref())
}
