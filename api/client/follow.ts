import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { TradeItem } from '../items/trade.ts'
import type { LastWord, MessageFault, ServerMessage } from '../stream/messages.ts'

/** What `follow` gives: a trade, with the position after it; or the news that some trades before `oldest` are out of the feed's reach. */
export type Followed =
  | {
      readonly kind: 'trade'
      /** Keep the last one handled; give it as `after` to go on from there another day. */
      readonly id: string
      /** It belongs before trades that came already. */
      readonly late: boolean
      readonly trade: TradeItem
    }
  | { readonly kind: 'gap'; readonly oldest: string }

export interface FollowOptions {
  /** Aliases; all by default. */
  readonly wallets?: readonly string[]
  readonly mints?: readonly string[]
  /** Go on from here: an `id`, or `head` of `trades()`. */
  readonly after?: string
  readonly signal?: AbortSignal
  /** Told of what happens besides trades: connections, cuts and notices such as `balance_low`. */
  readonly onNotice?: (notice: Notice) => void
  /** First pause before coming back, in milliseconds; it doubles to 40 times that, with some chance in it. */
  readonly retryMs?: number
}

export type Notice =
  | { readonly type: 'connected' | 'cut' }
  | { readonly type: 'balance_low'; readonly balance_credits: number }

/** Why the feed is over for this client: coming back as it is would not help. */
export class FeedEnded extends Error {
  readonly code: LastWord | MessageFault | 'unauthorized' | 'insufficient_credits' | 'refused'

  constructor(code: FeedEnded['code'], message: string) {
    super(message)
    this.name = 'FeedEnded'
    this.code = code
  }
}

/** Follows the feed over as many connections as it takes; each goes on after the last message of the one before. */
export async function* followFeed(
  service: { readonly url: string; readonly apiKey: string },
  options: FollowOptions,
): AsyncGenerator<Followed, void, undefined> {
  const { signal, onNotice = () => {}, retryMs = 250 } = options
  let after = options.after
  let failures = 0
  while (!signal?.aborted) {
    const connection = new FeedConnection(service, { ...options, after })
    const stop = () => connection.close()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      for await (const message of connection.messages()) {
        if ('channel' in message) {
          failures = 0
          after = message.id
          const { id, late = false, data } = message
          yield { kind: 'trade', id, late, trade: data }
        } else if (message.type === 'subscribed') {
          after ??= message.cursor
          onNotice({ type: 'connected' })
        } else if (message.type === 'gap') {
          after = message.oldest
          yield { kind: 'gap', oldest: message.oldest }
        } else if (message.type === 'balance_low') onNotice(message)
        else if (message.type === 'error') throw new FeedEnded(message.code, message.message)
        else if (isFinal(message.type))
          throw new FeedEnded(message.type, `the feed ended: ${message.type}`)
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      connection.close()
    }
    if (signal?.aborted) return
    onNotice({ type: 'cut' })
    const longest = retryMs * 2 ** Math.min(failures++, 5.3)
    await pause(longest * (0.5 + Math.random() / 2), undefined, signal && { signal }).catch(
      () => {},
    )
  }
}

/** After these the same key or account gets nothing more by coming back; others are temporary. */
function isFinal(type: string): type is LastWord {
  return ['balance_exhausted', 'superseded', 'key_rotated'].includes(type)
}

/** One connection: what it says, until it ends. What is not taken yet is kept, up to a bound; then the service waits. */
class FeedConnection {
  readonly #socket: WebSocket
  readonly #queue: ServerMessage[] = []
  #wake = () => {}
  #isOver = false
  #failure: FeedEnded | null = null
  #lastHeard = Date.now()
  readonly #watch: NodeJS.Timeout

  constructor(
    service: { readonly url: string; readonly apiKey: string },
    options: Omit<FollowOptions, 'after'> & { readonly after: string | undefined },
  ) {
    const { wallets, mints, after } = options
    this.#socket = new WebSocket(service.url, {
      headers: { authorization: `Bearer ${service.apiKey}` },
      handshakeTimeout: 10_000,
    })
    this.#socket.on('open', () => {
      const subscribe = { action: 'subscribe', channels: ['trades'], wallets, mints, after }
      this.#socket.send(JSON.stringify(subscribe))
    })
    this.#socket.on('message', (data: Buffer) => {
      this.#lastHeard = Date.now()
      this.#queue.push(JSON.parse(data.toString()) as ServerMessage) // the service speaks by its schemas
      if (this.#queue.length > MAX_QUEUE) this.#socket.pause()
      this.#wake()
    })
    this.#socket.on('ping', () => {
      this.#lastHeard = Date.now()
    })
    this.#socket.on('unexpected-response', (_request, response) => {
      const { statusCode = 0 } = response
      if (statusCode === 401) this.#failure = new FeedEnded('unauthorized', 'the key is not valid')
      else if (statusCode === 402)
        this.#failure = new FeedEnded('insufficient_credits', 'no credits are left')
      else if (statusCode < 500 && statusCode !== 429)
        this.#failure = new FeedEnded('refused', `refused with status ${statusCode}`)
      response.destroy()
      this.#socket.terminate()
      this.#end()
    })
    this.#socket.on('error', () => this.#end())
    this.#socket.on('close', () => this.#end())
    // The service says something each 30 s; one that fell silent is gone.
    this.#watch = setInterval(() => {
      if (Date.now() - this.#lastHeard > SILENT_MS && !this.#socket.isPaused)
        this.#socket.terminate()
    }, 5000)
    this.#watch.unref()
  }

  async *messages(): AsyncGenerator<ServerMessage, void, undefined> {
    for (;;) {
      const message = this.#queue.shift()
      if (message !== undefined) {
        if (this.#socket.isPaused && this.#queue.length < MAX_QUEUE / 2) {
          this.#lastHeard = Date.now()
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

  close(): void {
    clearInterval(this.#watch)
    if (this.#socket.readyState === WebSocket.CONNECTING) this.#socket.terminate()
    else this.#socket.close()
    this.#end()
  }

  #end(): void {
    this.#isOver = true
    clearInterval(this.#watch)
    this.#wake()
  }
}

const MAX_QUEUE = 2000
const SILENT_MS = 75_000
