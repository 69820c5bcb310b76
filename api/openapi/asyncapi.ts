import type { z } from 'zod'
import { VERSION } from '../../pipeline/runtime/version.ts'
import { EXAMPLE_SIGNAL } from '../items/signal.ts'
import { EXAMPLE_TRADE } from '../items/trade.ts'
import { EXAMPLE_WATCHLIST_ITEM } from '../items/watchlist.ts'
import { CLIENT_MESSAGES, CLOSE_CODES, SERVER_MESSAGES } from '../stream/messages.ts'
import { MAX_MESSAGE_BYTES } from '../stream/protocol.ts'

import { type JsonSchema, JsonSchemas } from './json-schemas.ts'

/** A message of the feed, as the document describes it. */
export interface MessageDocs {
  readonly name: string
  readonly summary: string
  readonly payload: JsonSchema
  readonly examples?: readonly { readonly payload: unknown }[]
}

/**
 * Returns the AsyncAPI 3.0 document of the feed, generated from the schemas of its messages (rule
 * D7, F).
 */
export function asyncApiDocument(serverUrl: string) {
  const { host, protocol } = new URL(serverUrl)
  const schemas = new JsonSchemas('draft-07')
  const sent = SERVER_MESSAGES.map((schema) => message(schema, schemas, 'output'))
  const received = CLIENT_MESSAGES.map((schema) => message(schema, schemas, 'input'))
  const inChannel = ({ name }: MessageDocs) => ({ $ref: `#/channels/feed/messages/${name}` })
  return {
    asyncapi: '3.0.0',
    info: { title: 'Tracked wallets: live feed', version: VERSION, description: ABOUT_FEED },
    defaultContentType: 'application/json',
    servers: {
      feed: {
        host,
        protocol: protocol === 'https:' ? 'wss' : 'ws',
        security: [
          { $ref: '#/components/securitySchemes/apiKey' },
          { $ref: '#/components/securitySchemes/dashboardToken' },
        ],
      },
    },
    channels: {
      feed: {
        address: '/ws',
        title: 'Live trades, watchlist and signals',
        description: HANDSHAKE,
        messages: Object.fromEntries(
          [...sent, ...received].map(({ name }) => [
            name,
            { $ref: `#/components/messages/${name}` },
          ]),
        ),
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
      },
    },
    operations: {
      send: {
        action: 'send',
        title: 'Messages from the service',
        channel: { $ref: '#/channels/feed' },
        messages: sent.map(inChannel),
      },
      receive: {
        action: 'receive',
        title: 'Messages from a client',
        channel: { $ref: '#/channels/feed' },
        messages: received.map(inChannel),
      },
    },
    components: {
      messages: Object.fromEntries([...sent, ...received].map((docs) => [docs.name, docs])),
      schemas: schemas.components,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

export type AsyncApiDocument = ReturnType<typeof asyncApiDocument>

function message(schema: z.ZodType, schemas: JsonSchemas, io: 'input' | 'output'): MessageDocs {
  const { id = '', description = '' } = schema.meta() ?? {}
  const examples = EXAMPLES[id]
  return {
    name: id,
    summary: description,
    payload: schemas.of(schema, io),
    ...(examples && { examples: examples.map((payload) => ({ payload })) }),
  }
}

const SECURITY_SCHEMES = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The API key, for `trades`: `Authorization: Bearer <API_KEY>`; never in the URL.',
  },
  dashboardToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The dashboard token of a wallet with active Pro, for `watchlist` and `signals`; never in the URL.',
  },
}

const CURSOR = 'mUkuqtcKjnOS0xqIt6vO8yZ1bqS3kWgLx0m4dHc2pQe7rTfVaA'
const TRADE_ID = 'bIONYfO8a2_o82o-np3UVw'

const { mint, symbol, name } = EXAMPLE_WATCHLIST_ITEM
const LEFT = { mint, symbol, name }

const EXAMPLES: Readonly<Record<string, readonly object[]>> = {
  Subscribe: [
    { action: 'subscribe', channels: ['trades'] },
    { action: 'subscribe', channels: ['trades'], wallets: ['W12'], after: CURSOR },
    { action: 'subscribe', channels: ['watchlist', 'signals'] },
  ],
  Unsubscribe: [{ action: 'unsubscribe', channels: ['trades'] }],
  Ping: [{ action: 'ping' }],
  TradeMessage: [{ channel: 'trades', id: CURSOR, trade_id: TRADE_ID, data: EXAMPLE_TRADE }],
  Retracted: [{ type: 'retracted', id: CURSOR, trade_id: TRADE_ID, data: EXAMPLE_TRADE }],
  WatchlistMessage: [
    { channel: 'watchlist', id: CURSOR, snapshot: true, data: EXAMPLE_WATCHLIST_ITEM },
    { channel: 'watchlist', id: CURSOR, event: 'changed', data: EXAMPLE_WATCHLIST_ITEM },
  ],
  LeftMessage: [{ channel: 'watchlist', id: CURSOR, event: 'left', data: LEFT }],
  SignalMessage: [{ channel: 'signals', id: CURSOR, data: EXAMPLE_SIGNAL }],
  SnapshotComplete: [{ type: 'snapshot_complete', cursor: CURSOR }],
  Subscribed: [
    {
      type: 'subscribed',
      channels: ['trades'],
      wallets: ['W12'],
      mints: null,
      cursor: CURSOR,
    },
    {
      type: 'subscribed',
      channels: ['trades'],
      wallets: null,
      mints: null,
      cursor: CURSOR,
      unknown: ['wallet'],
    },
  ],
  Unsubscribed: [{ type: 'unsubscribed', channels: ['trades'] }],
  Gap: [{ type: 'gap', oldest: CURSOR }],
  BalanceLow: [{ type: 'balance_low', balance_credits: 100 }],
  Error: [
    {
      type: 'error',
      code: 'wallet_not_found',
      message: 'wallets: no tracked wallet has the alias W999.',
    },
  ],
  Pong: [{ type: 'pong' }],
  Beat: [{ type: 'ping' }],
  LastMessage: [{ type: 'restarting' }],
}

const ABOUT_FEED = `Live trades of tracked wallets, in one total order, each once. A trade message costs 1 credit. Its \`data\` is exactly the item of \`GET /trades\`.

**Resume.** Every message has an \`id\`. After a lost connection, subscribe with \`after\` set to
the last \`id\` received: the missed trades come first, then live trades, without gap or repetition.
To continue from \`GET /trades\`, set \`after\` to its \`X-Head-Cursor\`.

**Late trades.** A trade that the service learns of after its slot was published is sent at once,
with \`"late": true\`. In time it belongs before trades already sent.

**Watchlist and signals.** A dashboard token of a wallet with active Pro gives access to the
channels \`watchlist\` and \`signals\`, free of charge. First comes a snapshot of the newest tick (a
block time divisible by 10): the list by mint, then the newest 25 signals, oldest first, then
\`snapshot_complete\`. After that come the changes of each tick: \`entered\`, \`changed\` and
\`left\` by mint, then the signals that fired. Both channels share one order, so one \`after\` is
the position in both. It resumes exactly where the connection was lost, also within a snapshot. If
the position is older than the retention, \`gap\` and a new snapshot follow. A connection ends in
the second in which its token (\`token_expired\`) or Pro (\`pro_expired\`) ends, and at once when
the token is revoked (\`token_revoked\`).

**End of a connection.** A message with one of these types comes before the close: ${Object.entries(
  CLOSE_CODES,
)
  .map(([type, code]) => `\`${type}\` (${code})`)
  .join(
    ', ',
  )}. After 1012 and 1013, reconnect and resume. \`superseded\` means that a newer connection of the same key, or a newer dashboard of the same wallet, is open.`

const HANDSHAKE = `Upgrade with \`Authorization: Bearer <API_KEY>\`, or with a dashboard token instead of the key. Browsers cannot set that header: they offer the subprotocols \`bearer, <API_KEY>\`, and the service selects \`bearer\`. A refusal is an HTTP response with a problem document before the upgrade: 401, 402 (no balance), 403 (no active Pro, or the account is disabled), 426 (not an upgrade), 429, 503. The service sends nothing before a subscription. Client messages are JSON text of at most ${MAX_MESSAGE_BYTES} bytes (else close 1009). A connection may send by default 120 messages and protocol pings a minute (else \`rate_limited\` and close 1008).`
