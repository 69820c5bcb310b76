import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { SignalItem } from '../items/signal.ts'
import type { TradeItem } from '../items/trade.ts'
import type { WatchlistItem } from '../items/watchlist.ts'
import type {
  Channel,
  CloseReason,
  MessageFault,
  ServerMessage,
  ViewChannel,
} from '../stream/messages.ts'

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

/** What `followViews` gives. */
export type Viewed =
  /** A token on the list. After a gap or at the start comes a `snapshot`, which replaces what was known. */
  | {
      readonly kind: 'listed'
      readonly id: string
      readonly event: 'snapshot' | 'entered' | 'changed'
      readonly item: WatchlistItem
    }
  | { readonly kind: 'left'; readonly id: string; readonly mint: string }
  | {
      readonly kind: 'signal'
      readonly id: string
      /** False in a snapshot. */
      readonly isNew: boolean
      readonly signal: SignalItem
    }
  /** What is not in the snapshot that came is not on the list. */
  | { readonly kind: 'snapshot_complete'; readonly id: string }
  | { readonly kind: 'gap'; readonly oldest: string }

export interface FollowOptions extends ReachOptions {
  /** Aliases; all by default. */
  readonly wallets?: readonly string[]
}

export interface FollowViewsOptions extends ReachOptions {
  /** Both by default. */
  readonly channels?: readonly ViewChannel[]
}

interface ReachOptions {
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
  readonly code:
    | CloseReason
    | Exclude<MessageFault, 'rate_limited'>
    | 'unauthorized'
    | 'insufficient_credits'
    | 'refused'

  constructor(code: FeedEnded['code'], message: string) {
    super(message)
    this.name = 'FeedEnded'
    this.code = code
  }
}

/** Follows trades. */
export function followFeed(
  service: Service,
  { wallets, ...options }: FollowOptions,
): AsyncGenerator<Followed, void, undefined> {
  return follow(service, options, { channels: ['trades'], wallets }, (message) => {
    if ('channel' in message) {
      if (message.channel !== 'trades') return null
      const { id, late = false, data } = message
      return { kind: 'trade', id, late, trade: data }
    }
    return message.type === 'gap' ? { kind: 'gap', oldest: message.oldest } : null
  })
}

/** Follows watchlist and signals. */
export function followViews(
  service: Service,
  { channels = ['watchlist', 'signals'], ...options }: FollowViewsOptions,
): AsyncGenerator<Viewed, void, undefined> {
  return follow(service, options, { channels }, viewedOf)
}

function viewedOf(message: ServerMessage): Viewed | null {
  if (!('channel' in message)) {
    if (message.type === 'gap') return { kind: 'gap', oldest: message.oldest }
    return message.type === 'snapshot_complete'
      ? { kind: 'snapshot_complete', id: message.cursor }
      : null
  }
  const { id } = message
  if (message.channel === 'trades') return null
  if (message.channel === 'signals')
    return { kind: 'signal', id, isNew: message.snapshot !== true, signal: message.data }
  if (message.event === 'left') return { kind: 'left', id, mint: message.data.mint }
  return { kind: 'listed', id, event: message.event ?? 'snapshot', item: message.data }
}

/** Where the feed is, and the key or token to come with. */
interface Service {
  readonly url: string
  readonly bearer: string
}

/** Follows channels over as many connections as it takes; each goes on after the last message of the one before. Gives what `take` makes of messages. */
async function* follow<Taken>(
  service: Service,
  options: ReachOptions,
  wanted: Wanted,
  take: (message: ServerMessage) => Taken | null,
): AsyncGenerator<Taken, void, undefined> {
  const { signal, onNotice = () => {}, retryMs = 250, mints } = options
  let after = options.after
  let failures = 0
  while (!signal?.aborted) {
    const connection = new FeedConnection(service, { ...wanted, mints, after })
    const stop = () => connection.close()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      for await (const message of connection.messages()) {
        if ('channel' in message) {
          failures = 0
          after = message.id
        } else if (message.type === 'subscribed') {
          after ??= message.cursor
          onNotice({ type: 'connected' })
        } else if (message.type === 'gap') after = message.oldest
        else if (message.type === 'snapshot_complete') after = message.cursor
        else if (message.type === 'balance_low') onNotice(message)
        else if (message.type === 'error') {
          if (message.code === 'rate_limited') break // a new connection has its own minute
          throw new FeedEnded(message.code, message.message)
        } else if (isFinal(message.type)) throw new FeedEnded(message.type, FINAL[message.type])
        const taken = take(message)
        if (taken !== null) yield taken
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

/** What is asked for on each connection, beside the position. */
interface Wanted {
  readonly channels: readonly Channel[]
  readonly wallets?: readonly string[] | undefined
}

/** After these the same key, token or account gets nothing more by coming back; others are temporary. What would help, for people. */
const FINAL = {
  balance_exhausted: 'no credits are left: top up, then go on from the last id',
  superseded: 'another program follows with this key, or another dashboard: stop one of the two',
  key_rotated: 'this key was replaced: take the new one',
  token_expired: 'the token has expired: log in again',
  token_revoked: 'the token was taken back by a logout: log in again',
  pro_expired: 'Pro has ended for this wallet: pay for it again',
} as const satisfies Partial<Record<CloseReason, string>>

function isFinal(type: string): type is keyof typeof FINAL {
  return Object.hasOwn(FINAL, type)
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
    service: Service,
    wanted: Wanted & {
      readonly mints: readonly string[] | undefined
      readonly after: string | undefined
    },
  ) {
    this.#socket = new WebSocket(service.url, {
      headers: { authorization: `Bearer ${service.bearer}` },
      handshakeTimeout: 10_000,
    })
    this.#socket.on('open', () => {
      this.#socket.send(JSON.stringify({ action: 'subscribe', ...wanted }))
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
      if (statusCode === 401)
        this.#failure = new FeedEnded(
          'unauthorized',
          'the key or token is not valid: take the newest one',
        )
      else if (statusCode === 402)
        this.#failure = new FeedEnded('insufficient_credits', 'no credits are left: top up')
      else if (statusCode === 403)
        this.#failure = new FeedEnded('pro_required', 'the wallet has no active Pro')
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
