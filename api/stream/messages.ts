import { z } from 'zod'
import { componentSchema } from '../items/component-schema.ts'
import { SignalItem } from '../items/signal.ts'
import { TradeItem } from '../items/trade.ts'
import { WatchlistItem } from '../items/watchlist.ts'

/**
 * The channels of the feed. An API key may subscribe to `trades`. A dashboard token of a wallet
 * with Pro may subscribe to the other two (rule F1).
 */
export const CHANNELS = ['trades', 'watchlist', 'signals'] as const
/** Schema of a channel's name. */
export const Channel = z.enum(CHANNELS)
/** A channel of the feed. */
export type Channel = z.infer<typeof Channel>

/** The free channels, in the order in which the messages of one tick are sent. */
export const VIEW_CHANNELS = ['watchlist', 'signals'] as const
/** A free channel. */
export type ViewChannel = (typeof VIEW_CHANNELS)[number]

/** Codes of `error` messages. Where several apply, the first in this order is sent (rule F2). */
export const MessageFault = z.enum([
  'rate_limited',
  'invalid_message',
  'invalid_channel',
  'pro_required',
  'invalid_parameter',
  'wallet_not_found',
  'invalid_cursor',
])
/** A code of an `error` message. */
export type MessageFault = z.infer<typeof MessageFault>

const Channels = z.array(Channel).min(1).max(8)
const Aliases = z
  .array(z.string().regex(/^W[1-9][0-9]*$/))
  .min(1)
  .max(100)
const Mints = z
  .array(z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/))
  .min(1)
  .max(100)
const Cursor = z.string().describe('Opaque position; send it as `after` to resume from there')

/**
 * Subscribes to channels, or replaces the subscription. Other fields are ignored, and `subscribed`
 * names them.
 */
export const SubscribeMessage = z
  .object({
    action: z.literal('subscribe'),
    channels: Channels,
    wallets: Aliases.optional().describe('Only trades of these wallets; only with `trades`'),
    mints: Mints.optional().describe('Only messages about these tokens'),
    after: Cursor.optional().describe(
      'The `id` of the last message received; for `trades` also `X-Head-Cursor` or `next_cursor` of `GET /trades`. Matching messages after it are sent first',
    ),
  })
  .meta({
    id: 'Subscribe',
    description:
      'Subscribes to `trades` (API key), or to `watchlist` and `signals` (dashboard token), or replaces the filter',
  })

/** Ends the subscription to channels. */
export const UnsubscribeMessage = z
  .object({ action: z.literal('unsubscribe'), channels: Channels })
  .meta({ id: 'Unsubscribe', description: 'Ends a subscription' })

/** Asks for a `pong` message. */
export const PingMessage = z
  .object({ action: z.literal('ping') })
  .meta({ id: 'Ping', description: 'Requests a `pong`' })

/**
 * Schemas of what a client may send (rule F2): JSON text of at most 4096 bytes. They document the
 * protocol; `protocol.ts` parses messages and finds the code for a bad one.
 */
export const CLIENT_MESSAGES = [SubscribeMessage, UnsubscribeMessage, PingMessage] as const
/** Schema of a client's message. */
export const ClientText = z.discriminatedUnion('action', CLIENT_MESSAGES)
/** A client's message. */
export type ClientText = z.infer<typeof ClientText>

const TradeId = z
  .string()
  .describe('Opaque name of the trade in its block; the same whenever the trade is sent')

/** A trade; `data` is the item that `GET /trades` serves for it (rule F3). */
export const TradeMessage = componentSchema('TradeMessage', 'A trade; costs 1 credit', {
  channel: z.literal('trades'),
  id: Cursor.describe(
    'Position after this message; send the last one received as `after` to resume',
  ),
  trade_id: TradeId,
  late: z
    .literal(true)
    .optional()
    .describe('The trade belongs before trades already sent; `id` keeps the newest position'),
  data: TradeItem,
})
/** A trade, as sent on the feed. */
export type TradeMessage = z.infer<typeof TradeMessage>

/** A trade was withdrawn, because its block never became final (rule K9). */
export const RetractedMessage = componentSchema(
  'Retracted',
  'A trade sent before is withdrawn: its block never became final. Free, and its credit is given back. `data` finds it in a page of `GET /trades`, which has no `trade_id`; otherwise ignore a `trade_id` that you did not receive. It may come again after a lost connection',
  {
    type: z.literal('retracted'),
    id: Cursor.describe(
      'Position after this message; send the last one received as `after` to resume',
    ),
    trade_id: TradeId,
    data: TradeItem.describe('The trade as it was sent'),
  },
)
/** A token on the trending watchlist as of a tick (section G of the rules). */
export const WatchlistMessage = z
  .strictObject({
    channel: z.literal('watchlist'),
    id: Cursor.describe(
      'Position after this message; send the last one received as `after` to resume',
    ),
    snapshot: z
      .literal(true)
      .optional()
      .describe('The token is part of the snapshot at the start of the subscription'),
    event: z.enum(['entered', 'changed']).optional().describe('What changed; absent in a snapshot'),
    data: WatchlistItem,
  })
  .meta({
    id: 'WatchlistMessage',
    description: 'A token on the trending watchlist, as in `GET /me/watchlists/trending`; free',
  })

/** A token left the trending watchlist (rule G1). */
export const LeftMessage = z
  .strictObject({
    channel: z.literal('watchlist'),
    id: Cursor,
    event: z.literal('left'),
    data: z.strictObject({ mint: z.string(), symbol: z.string(), name: z.string() }),
  })
  .meta({ id: 'LeftMessage', description: 'A token left the trending watchlist; free' })

/** A signal fired. */
export const SignalMessage = z
  .strictObject({
    channel: z.literal('signals'),
    id: Cursor.describe(
      'Position after this message; send the last one received as `after` to resume',
    ),
    snapshot: z
      .literal(true)
      .optional()
      .describe(
        'The signal is part of the snapshot at the start of the subscription, oldest first',
      ),
    data: SignalItem,
  })
  .meta({
    id: 'SignalMessage',
    description: 'A signal of a filter strategy, as in `GET /me/signals/filter`; free',
  })

/** The snapshot of a subscription is complete; changes follow. */
export const SnapshotCompleteMessage = z
  .strictObject({
    type: z.literal('snapshot_complete'),
    cursor: Cursor.describe('Position after the snapshot; changes follow'),
  })
  .meta({
    id: 'SnapshotComplete',
    description:
      'The end of the snapshot of `watchlist` and `signals`: a token that was not in it is not on the list',
  })

/** Confirms a subscription. */
export const SubscribedMessage = z
  .strictObject({
    type: z.literal('subscribed'),
    channels: z.array(Channel),
    wallets: z.array(z.string()).nullable(),
    mints: z.array(z.string()).nullable(),
    cursor: Cursor.describe(
      'The newest position; for `watchlist` and `signals` the position where messages start',
    ),
    unknown: z
      .array(z.string())
      .min(1)
      .max(10)
      .optional()
      .describe(
        'Fields of `subscribe` that do not exist, sorted: at most ten, of letters, digits, `_`, `.` and `-`. Absent without any',
      ),
  })
  .meta({ id: 'Subscribed', description: 'A subscription started; null for an absent filter' })

/** Confirms the end of a subscription. */
export const UnsubscribedMessage = componentSchema('Unsubscribed', 'A subscription ended', {
  type: z.literal('unsubscribed'),
  channels: z.array(Channel),
})

/** Trades before `oldest` are not on the feed. */
export const GapMessage = z
  .strictObject({
    type: z.literal('gap'),
    oldest: Cursor.describe('Messages continue after this position'),
  })
  .meta({
    id: 'Gap',
    description:
      'Trades before `oldest` are not available on the feed; `GET /trades` may have them. On `watchlist` and `signals` a snapshot follows',
  })

/** Warns once that a tenth of the balance at connect is left (rule F5). */
export const BalanceLowMessage = z
  .strictObject({ type: z.literal('balance_low'), balance_credits: z.int() })
  .meta({ id: 'BalanceLow', description: 'A tenth of the balance at connect is left; sent once' })

/** Answers a bad message. */
export const ErrorMessage = z
  .strictObject({ type: z.literal('error'), code: MessageFault, message: z.string() })
  .meta({
    id: 'Error',
    description:
      'A bad message. The connection stays open; three bad messages in a row close it (1008). `rate_limited`: more messages and protocol pings in a minute than allowed; the connection is closed (1008), reconnect with `after`',
  })

/** Answers a `ping` message. */
export const PongMessage = componentSchema('Pong', 'Answers `ping`', { type: z.literal('pong') })

/** Heartbeat. */
export const BeatMessage = componentSchema('Beat', 'Each 30 s while subscribed; needs no answer', {
  type: z.literal('ping'),
})

/** Close codes by the reason that the service sends before it closes a connection (rules F5-F7). */
export const CLOSE_CODES = {
  balance_exhausted: 1008,
  superseded: 1008,
  key_rotated: 1008,
  key_deleted: 1008,
  key_expired: 1008,
  account_disabled: 1008,
  token_expired: 1008,
  token_revoked: 1008,
  pro_expired: 1008,
  restarting: 1012,
  slow_reader: 1013,
  unavailable: 1013,
} as const
/** Why the service closes a connection, as its last message says. */
export type CloseReason = keyof typeof CLOSE_CODES

/** Says why the service closes the connection. */
export const LastMessage = z
  .strictObject({
    type: z.enum(Object.keys(CLOSE_CODES) as CloseReason[]), // its own keys
  })
  .meta({
    id: 'LastMessage',
    description:
      'Why the connection is closed: 1008 for balance_exhausted, superseded, key_rotated, key_deleted, key_expired, account_disabled, token_expired, token_revoked, pro_expired; 1012 for restarting; 1013 for slow_reader, unavailable',
  })

/** A token on the watchlist, as sent on the feed. */
export type WatchlistMessage = z.infer<typeof WatchlistMessage>
/** A token that left the watchlist, as sent on the feed. */
export type LeftMessage = z.infer<typeof LeftMessage>
/** A signal, as sent on the feed. */
export type SignalMessage = z.infer<typeof SignalMessage>

/** Schemas of what the service sends on the feed. */
export const SERVER_MESSAGES = [
  TradeMessage,
  RetractedMessage,
  WatchlistMessage,
  LeftMessage,
  SignalMessage,
  SnapshotCompleteMessage,
  SubscribedMessage,
  UnsubscribedMessage,
  GapMessage,
  BalanceLowMessage,
  ErrorMessage,
  PongMessage,
  BeatMessage,
  LastMessage,
] as const
/** Schema of a message of the service. */
export const ServerMessage = z.union(SERVER_MESSAGES)
/** A message of the service. */
export type ServerMessage = z.infer<typeof ServerMessage>
