import type { z } from 'zod'
import { VERSION } from '../../pipeline/runtime/version.ts'
import { EXAMPLE_SIGNAL } from '../items/signal.ts'
import { EXAMPLE_TRADE } from '../items/trade.ts'
import { EXAMPLE_WATCHLIST_ITEM } from '../items/watchlist.ts'
import { CLIENT_MESSAGES, CLOSE_CODES, SERVER_MESSAGES } from '../stream/messages.ts'
import { MAX_MESSAGE_BYTES } from '../stream/protocol.ts'

import { type JsonSchema, JsonSchemas } from './json-schemas.ts'

/** A message as the document has it. */
export interface MessageDocs {
  readonly name: string
  readonly summary: string
  readonly payload: JsonSchema
  readonly examples?: readonly { readonly payload: unknown }[]
}

/** The AsyncAPI 3.0 document of the feed, made of the schemas of its messages (rule D7, F). */
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
        title: 'What the service sends',
        channel: { $ref: '#/channels/feed' },
        messages: sent.map(inChannel),
      },
      receive: {
        action: 'receive',
        title: 'What a client may send',
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
  TradeMessage: [{ channel: 'trades', id: CURSOR, data: EXAMPLE_TRADE }],
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
  ],
  Unsubscribed: [{ type: 'unsubscribed', channels: ['trades'] }],
  Gap: [{ type: 'gap', oldest: CURSOR }],
  BalanceLow: [{ type: 'balance_low', balance_credits: 100 }],
  Error: [
    {
      type: 'error',
      code: 'wallet_not_found',
      message: 'wallets: an alias is not that of a tracked wallet.',
    },
  ],
  Pong: [{ type: 'pong' }],
  Beat: [{ type: 'ping' }],
  LastMessage: [{ type: 'restarting' }],
}

const ABOUT_FEED = `Trades of tracked wallets as they happen, in one total order, each once. A trade message costs 1 credit; its \`data\` is exactly what \`GET /trades\` gives for it.

**Resume.** Every message carries an \`id\`. After a cut, subscribe with \`after\` set to the last one received: what was missed comes first, then live trades, with no gap and no repetition. To begin where \`GET /trades\` ends, give its \`X-Head-Cursor\`.

**Late trades.** A trade that was learnt after its slot had passed comes at once, marked \`"late": true\`; its place in time is before trades that were sent already.

**Watchlist and signals.** A dashboard token of a wallet with active Pro has the channels \`watchlist\` and \`signals\`, free. First comes a snapshot as of the newest tick (a block time divisible by 10): the list by mint, then the newest 25 signals, oldest first, then \`snapshot_complete\`; then what each tick changes: \`entered\`, \`changed\` and \`left\` by mint, then the signals that fired. One order holds both channels, so one \`after\` holds both positions: it gives exactly what was missed, also of a snapshot that was cut. Older than the retention: \`gap\`, and a snapshot again. A connection ends in the second in which its token (\`token_expired\`) or Pro (\`pro_expired\`) does, and at once when the token is taken back (\`token_revoked\`).

**Why a connection ends.** A typed message always comes before the close: ${Object.entries(
  CLOSE_CODES,
)
  .map(([type, code]) => `\`${type}\` (${code})`)
  .join(
    ', ',
  )}. After 1012 and 1013 connect again and resume; after \`superseded\` another connection of the same key, or another dashboard of the same wallet, is open.`

const HANDSHAKE = `Upgrade with \`Authorization: Bearer <API_KEY>\`, or a dashboard token in its place; browsers, which cannot set that field, ask for the subprotocols \`bearer, <API_KEY>\` and are answered \`bearer\`. A refusal is an HTTP status with a problem document before the upgrade: 401, 402 (no balance), 403 (no active Pro), 426 (no upgrade asked), 429, 503. Nothing is sent before a subscription. Messages are JSON text of at most ${MAX_MESSAGE_BYTES} bytes (else 1009), and a connection may send 120 messages and protocol pings a minute unless the operator sets another number (else \`rate_limited\` and 1008).`
