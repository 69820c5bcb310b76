import { z } from 'zod'
import { TradeItem } from '../items/trade.ts'

/** What may be subscribed to; an API key has `trades` alone, a dashboard token of a wallet with Pro the other two (decisions F1). */
export const CHANNELS = ['trades', 'watchlist', 'signals'] as const
export const Channel = z.enum(CHANNELS)
export type Channel = z.infer<typeof Channel>

/** What a client may be told is wrong with a message; where several hold, the first in this order (decisions F2). */
export const MessageFault = z.enum([
  'invalid_message',
  'invalid_channel',
  'pro_required',
  'invalid_parameter',
  'wallet_not_found',
  'invalid_cursor',
])
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
const Cursor = z.string().describe('Opaque position; give it as `after` to go on from there')

/** Asks for trades, or replaces the filter. Other fields are ignored. */
export const SubscribeMessage = z
  .object({
    action: z.literal('subscribe'),
    channels: Channels,
    wallets: Aliases.optional().describe('Trades of these wallets alone'),
    mints: Mints.optional().describe('Trades of these tokens alone'),
    after: Cursor.optional().describe(
      'The `id` of the last message received, or `X-Head-Cursor` or `next_cursor` of `GET /trades`: what matches and came after it is sent first',
    ),
  })
  .meta({ id: 'Subscribe', description: 'Asks for trades, or replaces the filter' })

export const UnsubscribeMessage = z
  .object({ action: z.literal('unsubscribe'), channels: Channels })
  .meta({ id: 'Unsubscribe', description: 'Ends what was subscribed to' })

export const PingMessage = z
  .object({ action: z.literal('ping') })
  .meta({ id: 'Ping', description: 'Asks for a `pong`' })

/** What a client may send (decisions F2): JSON text of at most 4096 bytes. How it is read, with the code for what is wrong, is in `protocol.ts`. */
export const CLIENT_MESSAGES = [SubscribeMessage, UnsubscribeMessage, PingMessage] as const
export const ClientText = z.discriminatedUnion('action', CLIENT_MESSAGES)
export type ClientText = z.infer<typeof ClientText>

/** A trade: `data` is what `GET /trades` gives for it (decisions F3). */
export const TradeMessage = z
  .strictObject({
    channel: z.literal('trades'),
    id: Cursor.describe('Position after this message; give the last one received as `after`'),
    late: z
      .literal(true)
      .optional()
      .describe('It belongs before trades that were sent already; `id` keeps the newest position'),
    data: TradeItem,
  })
  .meta({ id: 'TradeMessage', description: 'A trade; costs 1 credit' })

export type TradeMessage = z.infer<typeof TradeMessage>

export const SubscribedMessage = z
  .strictObject({
    type: z.literal('subscribed'),
    channels: z.array(Channel),
    wallets: z.array(z.string()).nullable(),
    mints: z.array(z.string()).nullable(),
    cursor: Cursor.describe('The newest position passed'),
  })
  .meta({ id: 'Subscribed', description: 'A subscribe was taken; null for a filter not given' })

export const UnsubscribedMessage = z
  .strictObject({ type: z.literal('unsubscribed'), channels: z.array(Channel) })
  .meta({ id: 'Unsubscribed', description: 'An unsubscribe was taken' })

export const GapMessage = z
  .strictObject({
    type: z.literal('gap'),
    oldest: Cursor.describe('What follows starts after this position'),
  })
  .meta({
    id: 'Gap',
    description: 'Trades before `oldest` are out of reach of the feed; `GET /trades` may have them',
  })

export const BalanceLowMessage = z
  .strictObject({ type: z.literal('balance_low'), balance_credits: z.int() })
  .meta({ id: 'BalanceLow', description: 'A tenth of the balance at connect is left; told once' })

export const ErrorMessage = z
  .strictObject({ type: z.literal('error'), code: MessageFault, message: z.string() })
  .meta({ id: 'Error', description: 'A bad message; the connection stays, three in a row end it' })

export const PongMessage = z
  .strictObject({ type: z.literal('pong') })
  .meta({ id: 'Pong', description: 'Answers `ping`' })

export const BeatMessage = z
  .strictObject({ type: z.literal('ping') })
  .meta({ id: 'Beat', description: 'Each 30 s while subscribed; needs no answer' })

/** The last word before the service closes a connection, with the close code that goes with it (decisions F5-F7). */
export const CLOSE_CODES = {
  balance_exhausted: 1008,
  superseded: 1008,
  key_rotated: 1008,
  restarting: 1012,
  slow_reader: 1013,
  unavailable: 1013,
} as const
export type LastWord = keyof typeof CLOSE_CODES

export const LastMessage = z
  .strictObject({
    type: z.enum([
      'balance_exhausted',
      'superseded',
      'key_rotated',
      'restarting',
      'slow_reader',
      'unavailable',
    ] satisfies LastWord[]),
  })
  .meta({
    id: 'LastMessage',
    description:
      'Why the connection is closed: 1008 for balance_exhausted, superseded, key_rotated; 1012 for restarting; 1013 for slow_reader, unavailable',
  })

/** What the service sends on the feed. */
export const SERVER_MESSAGES = [
  TradeMessage,
  SubscribedMessage,
  UnsubscribedMessage,
  GapMessage,
  BalanceLowMessage,
  ErrorMessage,
  PongMessage,
  BeatMessage,
  LastMessage,
] as const
export const ServerMessage = z.union(SERVER_MESSAGES)
export type ServerMessage = z.infer<typeof ServerMessage>
