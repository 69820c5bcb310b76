import type { SignalItem } from '../items/signal.ts'
import type { TradeItem } from '../items/trade.ts'
import type { WatchlistItem } from '../items/watchlist.ts'
import type { Channel, ServerMessage, ViewChannel } from '../stream/messages.ts'
import { FeedConnection } from './feed-connection.ts'
import { FeedEnded, finalEnd } from './feed-ended.ts'
import type { FeedEndpoint } from './feed-endpoint.ts'
import { pauseUnlessAborted } from './pause-unless-aborted.ts'

/**
 * An item of `follow`: a trade; the withdrawal of one, because its block never became final; or a
 * gap, before which trades are not available on the feed. A withdrawal may come again, and may name
 * a trade that was not yielded.
 */
export type Followed =
  | {
      readonly kind: 'trade'
      /** Position after the trade. Give that of the last trade handled as `after` to resume. */
      readonly id: string
      /** Opaque name of the trade, the same whenever it is sent; a withdrawal says it too. */
      readonly tradeId: string
      /** Whether the trade belongs before trades already yielded. */
      readonly late: boolean
      readonly trade: TradeItem
    }
  | {
      readonly kind: 'retracted'
      readonly id: string
      readonly tradeId: string
      /** The trade as it was sent. */
      readonly trade: TradeItem
    }
  | { readonly kind: 'gap'; readonly oldest: string }

/** An item of `followViews`. */
export type Viewed =
  /** A token on the list. At the start or after a gap comes a `snapshot`: it replaces the list. */
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
  /** The end of a snapshot. A token that was not in it is not on the list. */
  | { readonly kind: 'snapshot_complete'; readonly id: string }
  | { readonly kind: 'gap'; readonly oldest: string }

/** Options of `follow`. */
export interface FollowOptions extends ConnectOptions {
  /** Aliases of wallets; all by default. */
  readonly wallets?: readonly string[]
}

/** Options of `followViews`. */
export interface FollowViewsOptions extends ConnectOptions {
  /** Channels to follow; default: all. */
  readonly channels?: readonly ViewChannel[]
}

interface ConnectOptions {
  /** Addresses of tokens; all by default. */
  readonly mints?: readonly string[]
  /** Position to start after: an `id`, or `head` of `trades()`. By default: now. */
  readonly after?: string
  /** Ends the iteration when aborted. */
  readonly signal?: AbortSignal
  /** Called with connects, disconnects and messages such as `balance_low`. */
  readonly onNotice?: (notice: Notice) => void
  /**
   * First pause before a reconnect, in milliseconds. It doubles up to 40 times that, with jitter.
   */
  readonly retryMs?: number
  /**
   * A connection without any message for this time is cut, in milliseconds; default 15,000. The
   * service is asked each third of it. Less than 3,000 asks more often than it allows.
   */
  readonly silenceMs?: number
}

/** Argument of `onNotice`. `cut`: the connection was lost and will be opened again. */
export type Notice =
  | { readonly type: 'connected' | 'cut' }
  | { readonly type: 'balance_low'; readonly balance_credits: number }

/** Follows trades. Throws `FeedEnded` when reconnecting would not help. */
export function followFeed(
  endpoint: FeedEndpoint,
  { wallets, ...options }: FollowOptions,
): AsyncGenerator<Followed, void, undefined> {
  return follow(endpoint, options, { channels: ['trades'], wallets }, followedOf)
}

/** Follows watchlist and signals. Throws `FeedEnded` when reconnecting would not help. */
export function followViews(
  endpoint: FeedEndpoint,
  { channels = ['watchlist', 'signals'], ...options }: FollowViewsOptions,
): AsyncGenerator<Viewed, void, undefined> {
  return follow(endpoint, options, { channels }, viewedOf)
}

/** The item that a message is; null for messages about the connection. */
export function followedOf(message: ServerMessage): Followed | null {
  if ('channel' in message) {
    if (message.channel !== 'trades') return null
    const { id, trade_id: tradeId, late = false, data } = message
    return { kind: 'trade', id, tradeId, late, trade: data }
  }
  if (message.type === 'gap') return { kind: 'gap', oldest: message.oldest }
  if (message.type !== 'retracted') return null
  return { kind: 'retracted', id: message.id, tradeId: message.trade_id, trade: message.data }
}

/** The item of a view that a message is; null for other messages. */
export function viewedOf(message: ServerMessage): Viewed | null {
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

/**
 * Follows channels and reconnects when a connection is lost. Each connection resumes after the last
 * message of the previous one. Yields what `convert` returns, except null.
 */
async function* follow<Item>(
  endpoint: FeedEndpoint,
  options: ConnectOptions,
  filter: {
    readonly channels: readonly Channel[]
    readonly wallets?: readonly string[] | undefined
  },
  convert: (message: ServerMessage) => Item | null,
): AsyncGenerator<Item, void, undefined> {
  const { signal, onNotice = () => {}, retryMs = 250, silenceMs = 15_000, mints } = options
  let after = options.after
  let failures = 0
  while (!signal?.aborted) {
    const connection = new FeedConnection(endpoint, { ...filter, mints, after }, silenceMs)
    const stop = () => connection.close()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      for await (const message of connection.messages()) {
        if ('channel' in message) failures = 0
        after = positionAfter(message, after)
        if (notify(message, onNotice) === 'reconnect') break
        const item = convert(message)
        if (item !== null) yield item
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      connection.close()
    }
    if (signal?.aborted) return
    onNotice({ type: 'cut' })
    await backOff(retryMs, failures++, signal)
  }
}

/** The position to resume from after a message. */
function positionAfter(message: ServerMessage, after: string | undefined): string | undefined {
  if ('channel' in message || message.type === 'retracted') return message.id
  if (message.type === 'subscribed') return after ?? message.cursor
  if (message.type === 'gap') return message.oldest
  return message.type === 'snapshot_complete' ? message.cursor : after
}

/** Reports a message to `onNotice`. Throws `FeedEnded` for an error or a final close reason. */
function notify(
  message: ServerMessage,
  onNotice: (notice: Notice) => void,
): 'continue' | 'reconnect' {
  if ('channel' in message) return 'continue'
  if (message.type === 'subscribed') onNotice({ type: 'connected' })
  else if (message.type === 'balance_low') onNotice(message)
  else if (message.type === 'error') {
    if (message.code === 'rate_limited') return 'reconnect' // each connection has its own limit
    throw new FeedEnded(message.code, message.message)
  } else {
    const end = finalEnd(message.type)
    if (end !== null) throw end
  }
  return 'continue'
}

/** Exponential backoff with jitter; returns at once when `signal` is aborted. */
async function backOff(retryMs: number, failures: number, signal?: AbortSignal): Promise<void> {
  const longest = retryMs * 2 ** Math.min(failures, 5.3)
  await pauseUnlessAborted(longest * (0.5 + Math.random() / 2), signal)
}
