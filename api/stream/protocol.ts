import { z } from 'zod'
import { parseAddress } from '../../pipeline/domain/address.ts'
import { parseAlias } from '../../pipeline/domain/alias.ts'
import { parseJson } from '../../pipeline/runtime/parse-json.ts'
import { unknownNames } from '../unknown-names.ts'
import {
  CHANNELS,
  Channel,
  type MessageFault,
  SubscribeMessage,
  VIEW_CHANNELS,
} from './messages.ts'
import type { ViewRow } from './view-rows.ts'

/** A parsed client message. `Position` is what the cursors of its channels decode to. */
export type ClientMessage<Position> =
  | Subscribe<Position>
  | { readonly kind: 'unsubscribe'; readonly channels: Channel[] }
  | { readonly kind: 'ping' }
  | { readonly kind: 'bad'; readonly code: MessageFault; readonly message: string }

/** A valid `subscribe` message. */
export interface Subscribe<Position> {
  readonly kind: 'subscribe'
  readonly channels: Channel[]
  /** Distinct wallet aliases; null for all wallets. */
  readonly wallets: string[] | null
  /** Distinct mint addresses; null for all tokens. */
  readonly mints: string[] | null
  /** The position to resume after; null: from now on. */
  readonly after: Position | null
  /** Fields of the message that do not exist, as `subscribed` names them (rule F2). */
  readonly unknown: string[] | undefined
}

/** The longest message a client may send, in bytes. */
export const MAX_MESSAGE_BYTES = 4096

/**
 * The credential of a client: an API key, or the dashboard token of a wallet with Pro (rule F1).
 */
export type Access = 'key' | 'session'

/**
 * Parses a client's text message. Checks in the order of rule F2: message, channels, filters,
 * wallets, cursor. The first fault gives the code.
 */
export function readMessage<Position>(
  text: string,
  deps: {
    readonly access: Access
    isTracked(wallet: number): boolean
    decodeCursor(text: string): Position | null
  },
): ClientMessage<Position> {
  const message = Message.safeParse(parseJson(text))
  if (!message.success)
    return bad('invalid_message', 'Expected {"action":"subscribe"|"unsubscribe"|"ping", ...}.')
  const { action, channels, wallets, mints, after } = message.data
  if (action === 'ping') return { kind: 'ping' }

  const requested = Channels.safeParse(channels)
  if (!requested.success)
    return bad('invalid_channel', `channels: expected a list of 1 to 8 of ${CHANNELS.join(', ')}.`)
  const { channels: allowed, refusal } = ACCESS[deps.access]
  if (!requested.data.every((channel) => allowed.includes(channel)))
    return bad('pro_required', refusal)
  const unique = [...new Set(requested.data)]
  if (action === 'unsubscribe') return { kind: 'unsubscribe', channels: unique }

  const aliases = Filter.safeParse(wallets)
  if (!aliases.success)
    return bad('invalid_parameter', 'wallets: expected a list of 1 to 100 aliases.')
  if (aliases.data !== undefined && deps.access === 'session')
    return bad('invalid_parameter', 'wallets: only the channel trades has this filter.')
  const addresses = Filter.safeParse(mints)
  if (!addresses.success || addresses.data?.some((mint) => parseAddress(mint) === null))
    return bad('invalid_parameter', 'mints: expected a list of 1 to 100 token addresses.')
  const isUnknown = (alias: string) => {
    const wallet = parseAlias(alias)
    return wallet === null || !deps.isTracked(wallet)
  }
  const untracked = aliases.data?.find(isUnknown)
  if (untracked !== undefined) return bad('wallet_not_found', untrackedText(untracked))
  const unknown = unknownNames(Object.keys(message.data), SUBSCRIBE_FIELDS)
  const position = typeof after === 'string' ? deps.decodeCursor(after) : null
  if (after !== undefined && position === null)
    return bad('invalid_cursor', ACCESS[deps.access].cursor)
  return {
    kind: 'subscribe',
    channels: unique,
    wallets: aliases.data === undefined ? null : [...new Set(aliases.data)],
    mints: addresses.data === undefined ? null : [...new Set(addresses.data)],
    after: position,
    unknown: unknown.length > 0 ? unknown : undefined,
  }
}

/** Shows what the client sent only where it is an alias: it may be an address. */
function untrackedText(alias: string): string {
  return parseAlias(alias) === null
    ? 'wallets: expected aliases, such as W1.'
    : `wallets: no tracked wallet has the alias ${alias}.`
}

const SUBSCRIBE_FIELDS = new Set(Object.keys(SubscribeMessage.shape))

const ACCESS: Readonly<Record<Access, AccessRules>> = {
  key: {
    channels: ['trades'],
    refusal: 'An API key has access to the channel trades only.',
    cursor: 'after: not a cursor of this feed or of GET /trades.',
  },
  session: {
    channels: VIEW_CHANNELS,
    refusal: 'A dashboard token has access to the channels watchlist and signals only.',
    cursor: 'after: not a cursor of the channels watchlist and signals.',
  },
}

/** Access rules of one kind of credential. */
interface AccessRules {
  readonly channels: readonly Channel[]
  /** Error text for another channel. */
  readonly refusal: string
  /** Error text for a bad cursor. */
  readonly cursor: string
}

/** A trade to send: its `trade_id`, and its JSON as `GET /trades` serves it. */
export interface TradeContent {
  readonly tradeId: string
  readonly data: string
}

/** Text of a trade message. */
export function tradeText(id: string, { tradeId, data }: TradeContent, isLate: boolean): string {
  return `{"channel":"trades","id":"${id}","trade_id":"${tradeId}",${isLate ? '"late":true,' : ''}"data":${data}}`
}

/** Text of a message that withdraws a trade. */
export function retractedText(id: string, { tradeId, data }: TradeContent): string {
  return `{"type":"retracted","id":"${id}","trade_id":"${tradeId}","data":${data}}`
}

/** Text of a message of channel `watchlist` or `signals`. */
export function viewText({ channel, event, render }: ViewRow, id: string): string {
  const attributes =
    event === 'snapshot' ? '"snapshot":true,' : event === 'fired' ? '' : `"event":"${event}",`
  return `{"channel":"${channel}","id":"${id}",${attributes}"data":${render()}}`
}

/** Text of a gap message. The trades after the gap start after the cursor `oldest`. */
export function gapText(oldest: string): string {
  return `{"type":"gap","oldest":"${oldest}"}`
}

/** Accepts more than the schemas of `messages.ts`, so that each fault gets a specific code. */
const Message = z.looseObject({
  action: z.enum(['subscribe', 'unsubscribe', 'ping']),
  channels: z.unknown().optional(),
  wallets: z.unknown().optional(),
  mints: z.unknown().optional(),
  after: z.unknown().optional(),
})
const Channels = z.array(Channel).min(1).max(8)
const Filter = z.array(z.string()).min(1).max(100).optional()

function bad(code: MessageFault, message: string): ClientMessage<never> {
  return { kind: 'bad', code, message }
}
