import type { Viewer } from '../middleware/upgrade.ts'
import { Conversation, type EndReason, type MessageLimit, type Transport } from './conversation.ts'
import type { ViewChannel } from './messages.ts'
import { readMessage, type Subscribe } from './protocol.ts'
import { endOfTick, startOfSnapshot, type ViewPosition } from './view-position.ts'
import type { ViewBatch, ViewEntry, ViewRelay } from './view-relay.ts'

export interface ViewConnectionDeps {
  readonly transport: Transport
  readonly limit: MessageLimit
  readonly relay: ViewRelay
  readonly viewer: Viewer
  /** Unix milliseconds by the wall clock. */
  readonly now: () => number
  onSent(messages: number): void
  onEnd(reason: EndReason): void
  /** Resolves a moment later. */
  readonly pause?: () => Promise<unknown>
}

/**
 * A dashboard's connection (rule F1): the channels `watchlist` and `signals`, free, as long as token and Pro last. Either it has had everything up to the newest tick, and is sent what
 * changes at the next; or it is behind a position, because it has just subscribed or comes back, and is sent pages as fast as it takes them.
 */
export class ViewConnection {
  readonly #deps: ViewConnectionDeps
  readonly #talk: Conversation<ViewPosition>
  #channels: ReadonlySet<ViewChannel> = new Set()
  #mints: ReadonlySet<string> | null = null
  /** Null: at the snapshot of the first tick, which has not come. */
  #position: ViewPosition | null = null
  /** There is one run at a time, and one page of it. */
  #isCatchingUp = false
  /** Counts subscriptions: a page for an older one is stale. */
  #subscription = 0
  #seconds = FIRST_PAGE_SECONDS
  #proUntil: number
  #isAsking = false

  constructor(deps: ViewConnectionDeps) {
    const { transport, relay, viewer } = deps
    this.#deps = deps
    this.#proUntil = viewer.proUntil
    const reading = {
      access: 'session',
      isTracked: () => false,
      decodeCursor: (text: string) => relay.decode(text),
    } as const
    this.#talk = new Conversation({
      transport,
      limit: deps.limit,
      read: (text) => readMessage(text, reading),
      onSubscribe: (message) => this.#subscribe(message),
      onUnsubscribe: (channels) => {
        const rest = [...this.#channels].filter((channel) => !channels.includes(channel))
        this.#channels = new Set(rest)
      },
      isSubscribed: () => this.#channels.size > 0,
      onEnd: deps.onEnd,
    })
  }

  get tokenId(): string {
    return this.#deps.viewer.tokenId
  }

  /** Whether its token is one of a wallet, and of a generation before this one. */
  isBefore(wallet: string, generation: number): boolean {
    const { viewer } = this.#deps
    return viewer.wallet === wallet && viewer.generation < generation
  }

  /** What changed at a tick; null: has to be asked for. */
  offer(batch: ViewBatch | null): void {
    if (!this.#talk.isOpen || this.#channels.size === 0 || !this.#mayHear()) return
    if (this.#isCatchingUp) return
    const { part, at } = this.#position ?? {}
    if (batch === null || part !== 'end' || at !== batch.from) {
      void this.#catchUp()
      return
    }
    if (this.#talk.isSlow) {
      this.end('slow_reader')
      return
    }
    const { transport } = this.#deps
    transport.hold()
    let sent = 0
    for (const entry of batch.entries) {
      if (!this.#wants(entry)) continue
      transport.write(entry.frame)
      sent++
    }
    transport.flush()
    this.#deps.onSent(sent)
    this.#position = endOfTick(batch.to)
  }

  receive(text: string | null, bytes: number): void {
    if (this.#talk.isOpen && this.#mayHear()) this.#talk.receive(text, bytes)
  }

  /** Every 30 s: is the client still there, and its token still valid? */
  beat(): void {
    if (this.#talk.beat()) this.checkToken()
  }

  /** Every second: token and Pro end by the wall clock. Pro may have been bought meanwhile. */
  checkAccess(): void {
    if (!this.#talk.isOpen || !this.#mayHear() || this.#isAsking) return
    if (this.#proUntil * 1000 - this.#deps.now() > ASK_AGAIN_MS) return
    this.#isAsking = true
    this.#deps.viewer
      .readProUntil()
      .then((until) => {
        this.#proUntil = Math.max(this.#proUntil, until ?? 0)
      })
      .catch(() => {}) // it ends when it was to end; who has Pro may come back
      .finally(() => {
        this.#isAsking = false
      })
  }

  /** Asks whether the token was taken back; without an answer it stays until it is asked again. */
  checkToken(): void {
    this.#deps.viewer.isRevoked().then(
      (isRevoked) => {
        if (isRevoked) this.end('token_revoked')
      },
      () => {},
    )
  }

  onPing(): void {
    this.#talk.count()
  }

  onPong(): void {
    this.#talk.onPong()
  }

  /** Says why, and closes. */
  end(reason: EndReason): void {
    this.#talk.end(reason)
  }

  /** The connection is gone. */
  gone(): void {
    this.#talk.gone()
  }

  #subscribe({ channels, mints, after }: Subscribe<ViewPosition>): void {
    const { relay } = this.#deps
    this.#channels = new Set(channels.filter((channel) => channel !== 'trades'))
    this.#mints = mints && new Set(mints)
    const start = relay.newest === null ? null : startOfSnapshot(relay.newest)
    this.#position = after === null || after.at === 0 ? start : after
    const cursor = relay.encode(this.#position ?? startOfSnapshot(0))
    this.#talk.tell({ type: 'subscribed', channels, wallets: null, mints, cursor })
    this.#seconds = FIRST_PAGE_SECONDS
    this.#subscription++
    void this.#catchUp()
  }

  /**
   * Sends what lies between the position and now, page by page; goes on with a subscription that
   * comes meanwhile.
   */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return
    const { relay, viewer, pause = later } = this.#deps
    const isOver = () => !this.#talk.isOpen || this.#channels.size === 0
    this.#isCatchingUp = true
    let failures = 0
    while (!isOver()) {
      const subscription = this.#subscription
      const isStale = () => isOver() || subscription !== this.#subscription
      if (this.#position === null && relay.newest !== null)
        this.#position = startOfSnapshot(relay.newest)
      const position = this.#position
      // A position that is ahead of this process is waited for.
      if (position === null || relay.isReached(position) || position.at > (relay.newest ?? 0)) break
      try {
        const page = await relay.page(position, this.#seconds, { wallet: viewer.wallet, isStale })
        if (page === null || isStale()) continue
        failures = 0
        if (page.gap !== null) this.#deps.transport.write(page.gap)
        if (!(await this.#send(page.entries, isStale))) continue
        this.#position = page.end
        if (page.isSnapshot)
          this.#talk.tell({ type: 'snapshot_complete', cursor: relay.encode(page.end) })
        this.#adapt(page.entries.length)
      } catch {
        if (isStale()) continue
        if (++failures > MAX_FAILURES) this.end('unavailable')
        else await pause()
      }
    }
    this.#isCatchingUp = false
  }

  /** False when it stopped before their end. */
  async #send(entries: readonly ViewEntry[], isStale: () => boolean): Promise<boolean> {
    const { transport, onSent } = this.#deps
    for (let next = 0; next < entries.length; ) {
      if (!this.#mayHear()) return false
      let [bytes, sent] = [0, 0]
      transport.hold()
      for (; next < entries.length && bytes < PUMP_BYTES; next++) {
        const entry = entries[next]
        if (entry === undefined || !this.#wants(entry)) continue
        transport.write(entry.frame)
        this.#position = entry.after
        bytes += entry.frame.length
        sent++
      }
      transport.flush()
      onSent(sent)
      // The client has taken it, or has hung up: then this is never resolved, and nobody waits for it.
      if (bytes > 0) await new Promise<void>((resolve) => transport.write(EMPTY, resolve))
      if (isStale()) return false
    }
    return this.#mayHear()
  }

  /** Pages of about as many messages, however much happens at a tick. */
  #adapt(entries: number): void {
    if (entries < FEW) this.#seconds = Math.min(this.#seconds * 2, MOST_PAGE_SECONDS)
    else if (entries > MANY) this.#seconds = Math.max(Math.floor(this.#seconds / 2), 1)
  }

  #wants({ channel, mint }: ViewEntry): boolean {
    return this.#channels.has(channel) && (this.#mints === null || this.#mints.has(mint))
  }

  /** Ends what has run out by the wall clock: nothing is said from that second on. */
  #mayHear(): boolean {
    const seconds = Math.floor(this.#deps.now() / 1000)
    if (seconds >= this.#deps.viewer.expiresAt) this.end('token_expired')
    else if (seconds >= this.#proUntil) this.end('pro_expired')
    return this.#talk.isOpen
  }
}

const PUMP_BYTES = 256 * 1024
const EMPTY = Buffer.alloc(0)
const MAX_FAILURES = 20
const FIRST_PAGE_SECONDS = 10
const MOST_PAGE_SECONDS = 3600
const FEW = 500
const MANY = 2000
/** So long before its end it is asked whether Pro was prolonged. */
const ASK_AGAIN_MS = 10_000

function later(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 200).unref())
}
