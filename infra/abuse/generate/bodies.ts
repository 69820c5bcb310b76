import { hash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import bs58 from 'bs58'
import { utf8 } from '../case.ts'

const ADDRESS = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM'

/** Bodies of `application/json` that no schema of a login accepts, as Latin-1. */
const BAD_BODIES: readonly string[] = [
  ...['', ' ', '{', '}', '[]', '[[', 'null', 'true', '1', '"wallet"', '{}', "{'wallet':'x'}", '\0'],
  ...[
    '{"wallet":null}',
    '{"wallet":["x"]}',
    '{"wallet":{"$gt":""}}',
    '{"wallet":1e999}',
    '{"a":1}}',
  ],
  ...['{"__proto__":{"wallet":"x"}}', '{"constructor":{"prototype":{}}}', '[{"wallet":"x"}]'],
  ...[
    `{"wallet":"${ADDRESS}"`,
    `{"wallet":"${ADDRESS}\0"}`,
    `{"wallet":"${ADDRESS}x"}`,
    'wallet=x',
  ],
  ...['['.repeat(16_000), '{"a":'.repeat(3000), `${'['.repeat(8000)}${']'.repeat(8000)}`],
  ...[
    '{"wallet":"\\ud800"}',
    '\xff\xfe',
    '\xef\xbb\xbf{}',
    '{"wallet":"\xc0\xaf"}',
    utf8('{"wallet":"💰"}'),
  ],
  ...[
    `{"wallet":"${'1'.repeat(16_000)}"}`,
    `{${'"a":1,'.repeat(2600)}"b":1}`,
    `${' '.repeat(16_384)}`,
  ],
]

/** Bodies of more than 16 KB. */
const LARGE_BODIES: readonly string[] = [
  `{"x":"${'x'.repeat(16_384)}"}`,
  ' '.repeat(16_385),
  '['.repeat(100_000),
]

/**
 * A valid body for a login resource, by path, without a valid signature. Every `name` has its own
 * wallet, so that no two requests share the rate limit of a wallet.
 */
export function goodBody(path: string, name: string): string {
  const wallet = bs58.encode(hash('sha256', name, 'buffer'))
  return JSON.stringify(
    path === '/auth/login' ? { wallet, message: 'x', signature: '1'.repeat(64) } : { wallet },
  )
}

const NOT_JSON: readonly string[] = [
  ...['', 'text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/jsonx'],
  ...['*/*', 'application', 'application/json/x', '\xff', 'application/x-www-form-urlencoded'],
]

/** Compressed bodies. None may be inflated: the service refuses the encoding, or the JSON. */
const COMPRESSED: readonly (readonly [encoding: string, body: string])[] = [
  ['gzip', gzipSync(Buffer.alloc(10_000_000, 32)).toString('latin1')],
  ['gzip', gzipSync('{"wallet":"x"}').toString('latin1')],
  ['deflate', '\x78\x9c'],
  ['br', '\xff'.repeat(100)],
  ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(Buffer.alloc(1_000_000)))).toString('latin1')],
]

/** A body to send, with its header fields. */
export interface BodyAttack {
  readonly attack: string
  readonly what: string
  readonly fields: readonly string[]
  readonly body: string
  readonly statuses: readonly number[]
}

const JSON_TYPE = 'Content-Type: application/json'
const CHUNKED = [JSON_TYPE, 'Transfer-Encoding: chunked']

/** Bodies for a resource that takes one; `good` are the statuses of a valid request. */
export function bodyAttacks(path: string, good: readonly number[]): BodyAttack[] {
  const body = goodBody(path, 'chunks')
  const oneByteChunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join('')
  const size = body.length.toString(16)
  return [
    ...BAD_BODIES.map((bad) => whole('body', bad, bad, [400])),
    ...LARGE_BODIES.map((large) => whole('large body', large.slice(0, 20), large, [413])),
    ...LARGE_BODIES.map((large) => {
      const text = `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`
      return chunked(`one chunk of ${large.length} bytes`, text, [413])
    }),
    chunked('chunks of one byte', `${oneByteChunks}0\r\n\r\n`, good),
    // A malformed body ends the connection of a request under way.
    chunked('a bad chunk size', `-1\r\n${body}\r\n0\r\n\r\n`, [0, 400]),
    chunked(
      'a chunk with a long extension',
      `${size};${'a'.repeat(20_000)}\r\n${body}\r\n0\r\n\r\n`,
      [0, 400, 413, 431, ...good],
    ),
    {
      ...whole('body', 'longer than it says', body, [400]),
      fields: [JSON_TYPE, 'Content-Length: 2'],
    },
    ...NOT_JSON.map((type) => ({
      ...whole('type', type, body, [400, 415]),
      fields: [`Content-Type: ${type}`, lengthOf(body)],
    })),
    { ...whole('type', 'none', body, [415]), fields: [lengthOf(body)] },
    ...COMPRESSED.map(([encoding, bytes]) => ({
      ...whole('compressed', encoding, bytes, [400, 413, 415]),
      fields: [JSON_TYPE, `Content-Encoding: ${encoding}`, lengthOf(bytes)],
    })),
  ]
}

/** Bodies for a resource that takes none. */
export function needlessBodies(good: readonly number[]): BodyAttack[] {
  const large = (what: string, length: string): BodyAttack => ({
    attack: 'body',
    what,
    body: '',
    statuses: [413],
    fields: [JSON_TYPE, `Content-Length: ${length}`],
  })
  return [
    large('of 16 KB and one byte', '16385'),
    large('of 10^11 bytes', '99999999999'),
    chunked('malformed chunks', 'zz\r\n\r\n', [0, 400, ...good]),
  ]
}

const lengthOf = (body: string) => `Content-Length: ${body.length}`

function whole(
  attack: string,
  what: string,
  body: string,
  statuses: readonly number[],
): BodyAttack {
  return { attack, what, fields: [JSON_TYPE, lengthOf(body)], body, statuses }
}

function chunked(what: string, body: string, statuses: readonly number[]): BodyAttack {
  return { attack: 'chunks', what, fields: CHUNKED, body, statuses }
}
