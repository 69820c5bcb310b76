import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import type { Channel, ServerMessage } from '../stream/messages.ts'
import { FeedEnded, finalEnd } from './feed-ended.ts'

/** URL of the feed, and the credential to connect with. */
export interface FeedEndpoint {
  /** URL of `GET /ws`, with scheme `ws` or `wss`. */
  readonly url: string
  /** API key or dashboard token. */
  readonly bearer: string
}

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
  readonly #socket: WebSocket
  /** Whether the credential is an API key and not a dashboard token. */
  readonly #isKey: boolean
  readonly #buffer: ServerMessage[] = []
  /** Wakes `messages` when there is a message or the connection is over. */
  #wake = () => {}
  #isOver = false
  #failure: FeedEnded | null = null
  #lastReceived = Date.now()
  readonly #watchdog: NodeJS.Timeout

  constructor(endpoint: FeedEndpoint, subscription: FeedSubscription) {
    this.#isKey = endpoint.bearer.startsWith('tw_')
    this.#socket = new WebSocket(endpoint.url, {
      headers: { authorization: `Bearer ${endpoint.bearer}` },
      handshakeTimeout: 10_000,
    })
    this.#socket.on('open', () => {
      this.#socket.send(JSON.stringify({ action: 'subscribe', ...subscription }))
    })
    this.#socket.on('message', (data: Buffer) => this.#onMessage(data))
    this.#socket.on('ping', () => {
      this.#lastReceived = Date.now()
    })
    this.#socket.on('unexpected-response', (_request, response) => this.#onRefusal(response))
    this.#socket.on('error', () => this.#end())
    this.#socket.on('close', () => this.#end())
    this.#watchdog = setInterval(() => this.#checkSilence(), 5000)
    this.#watchdog.unref()
  }

  /**
   * Yields messages until the connection is over. Throws `FeedEnded` when the handshake was refused
   * for a reason that reconnecting does not change.
   */
  async *messages(): AsyncGenerator<ServerMessage, void, undefined> {
    for (;;) {
      const message = this.#buffer.shift()
      if (message !== undefined) {
        if (this.#socket.isPaused && this.#buffer.length < MAX_BUFFERED / 2) {
          this.#lastReceived = Date.now()
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
    if (this.#socket.readyState === WebSocket.CONNECTING) this.#socket.terminate()
    else this.#socket.close()
    this.#end()
  }

  #onMessage(data: Buffer): void {
    this.#lastReceived = Date.now()
    // The cast is safe: the service sends messages by these schemas.
    this.#buffer.push(JSON.parse(data.toString()) as ServerMessage)
    if (this.#buffer.length > MAX_BUFFERED) this.#socket.pause()
    this.#wake()
  }

  #onRefusal(response: IncomingMessage): void {
    this.#failure = refusalOf(response.statusCode ?? 0, this.#isKey)
    response.destroy()
    this.#socket.terminate()
    this.#end()
  }

  /** The service sends a ping each 30 s: a connection that is silent for longer is broken. */
  #checkSilence(): void {
    if (Date.now() - this.#lastReceived > SILENCE_MS && !this.#socket.isPaused)
      this.#socket.terminate()
  }

  #end(): void {
    this.#isOver = true
    clearInterval(this.#watchdog)
    this.#wake()
  }
}

const MAX_BUFFERED = 2000
const SILENCE_MS = 75_000

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
