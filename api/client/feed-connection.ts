import type { Channel, ServerMessage } from '../stream/messages.ts'
import { FeedEnded, finalEnd } from './feed-ended.ts'
import type { FeedEndpoint, FollowerSocket } from './feed-endpoint.ts'
import { openFollowerSocket } from './feed-socket.ts'

/** Filters of a connection's subscription. Absent filters match everything. */
export interface FeedSubscription {
  readonly channels: readonly Channel[]
  readonly wallets?: readonly string[] | undefined
  readonly mints: readonly string[] | undefined
  /** Position to start after; now by default. */
  readonly after: string | undefined
}

/**
 * One connection to the feed. It subscribes when it opens. Messages that the program has not taken
 * are buffered up to a bound; then it stops reading from the socket.
 */
export class FeedConnection {
  readonly #socket: FollowerSocket
  /** Whether the credential is an API key and not a dashboard token. */
  readonly #isKey: boolean
  readonly #buffer: ServerMessage[] = []
  /** Wakes `messages` when there is a message or the connection is over. */
  #wake = () => {}
  #isOver = false
  #isPaused = false
  #failure: FeedEnded | null = null
  #isOpen = false
  #lastReceived = Date.now()
  readonly #silenceMs: number
  readonly #watchdog: NodeJS.Timeout

  /** A connection without any message for `silenceMs` is over. */
  constructor(endpoint: FeedEndpoint, subscription: FeedSubscription, silenceMs: number) {
    this.#silenceMs = silenceMs
    this.#isKey = endpoint.bearer.startsWith('tw_')
    this.#socket = openFollowerSocket(endpoint, {
      opened: () => {
        this.#isOpen = true
        this.#socket.send(JSON.stringify({ action: 'subscribe', ...subscription }))
      },
      received: (text) => this.#onMessage(text),
      ended: (status) => this.#end(status),
    })
    this.#watchdog = setInterval(() => this.#checkSilence(), silenceMs / PARTS)
    // A browser has a number here.
    if (typeof this.#watchdog === 'object') this.#watchdog.unref()
  }

  /**
   * Yields messages until the connection is over. Throws `FeedEnded` when the handshake was refused
   * for a reason that reconnecting does not change.
   */
  async *messages(): AsyncGenerator<ServerMessage, void, undefined> {
    for (;;) {
      const message = this.#buffer.shift()
      if (message !== undefined) {
        if (this.#isPaused && this.#buffer.length < MAX_BUFFERED / 2) {
          this.#lastReceived = Date.now()
          this.#isPaused = false
          this.#socket.resume()
        }
        yield message
      } else if (this.#isOver) {
        if (this.#failure) throw this.#failure
        return
      } else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }

  /** Closes the connection. `messages` yields what is buffered and ends. */
  close(): void {
    clearInterval(this.#watchdog)
    this.#socket.close()
    this.#end(null)
  }

  #onMessage(text: string): void {
    this.#lastReceived = Date.now()
    // The cast is safe: the service sends messages by these schemas.
    this.#buffer.push(JSON.parse(text) as ServerMessage)
    if (this.#buffer.length > MAX_BUFFERED && !this.#isPaused) {
      this.#isPaused = true
      this.#socket.pause()
    }
    this.#wake()
  }

  /** Asks a silent service whether it is there. A connection that stays silent is broken. */
  #checkSilence(): void {
    const silentMs = Date.now() - this.#lastReceived
    if (this.#isPaused) return
    if (silentMs >= this.#silenceMs) {
      this.#socket.terminate()
      this.#end(null) // a browser says so much later
    } else if (silentMs >= this.#silenceMs / PARTS && this.#isOpen)
      this.#socket.send('{"action":"ping"}')
  }

  #end(status: number | null): void {
    if (status !== null) this.#failure = refusalOf(status, this.#isKey)
    this.#isOver = true
    clearInterval(this.#watchdog)
    this.#wake()
  }
}

const MAX_BUFFERED = 2000
/** A silent service is asked after each part of the time after which the connection is over. */
const PARTS = 3

/** Why the handshake was refused; null when reconnecting may help. */
function refusalOf(status: number, isKey: boolean): FeedEnded | null {
  if (status === 401)
    return new FeedEnded('unauthorized', 'the key or token is not valid: use the newest one')
  if (status === 402)
    return new FeedEnded('insufficient_credits', 'no credits are left: top up first')
  if (status === 403 && isKey) return finalEnd('account_disabled')
  if (status === 403)
    return new FeedEnded('pro_required', 'the wallet has no active Pro, or its account is disabled')
  if (status < 500 && status !== 429)
    return new FeedEnded('refused', `refused with status ${status}`)
  return null
}
