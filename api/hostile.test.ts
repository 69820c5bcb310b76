import { once } from 'node:events'
import { createConnection } from 'node:net'
import { Writable } from 'node:stream'
import test from 'ava'
import { pino } from 'pino'
import type { Address } from '../pipeline/domain/address.ts'
import { createRegistry } from '../pipeline/runtime/telemetry.ts'
import type { Billing } from './billing/billing.ts'
import { createCursorCodec } from './cursor.ts'
import { createHttpServer } from './http-server.ts'
import { cursorKeys } from './testing/cursor-keys.ts'
import { openEmbeddedStore, type TestStore } from './testing/open-stores.ts'
import { aSwapRow, insertWallets, MINT, markStored } from './testing/rows.ts'
import { startApi, type TestApi } from './testing/start-api.ts'

const codec = createCursorCodec(cursorKeys(7))
const EVENT_KEY = { slot: 1, txIndex: 0, wallet: 1, eventIndex: 0 }
let opened: TestStore
let api: TestApi
let key: string
let wallet: Address
let token: string
let logged = ''
const registry = createRegistry()
test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 3)
  await opened.store.insert('swaps', [aSwapRow(90)])
  await markStored(opened.store, 100)
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk
      done()
    },
  })
  // The cast is safe: the API calls only `pro` here.
  const billing = { pro: async () => ({ active: false }) } as unknown as Billing
  const logger = pino({ level: 'debug' }, sink)
  api = await startApi(opened.store, { registry, logger, billing: () => billing })
  ;({ key, wallet } = await api.customer(1000))
  token = await api.token(wallet)
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

interface Answer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Sends bytes unchanged, and reads until the server closes the connection. */
async function send(bytes: string | Buffer): Promise<Answer> {
  const { hostname, port } = new URL(api.url)
  const socket = createConnection(Number(port), hostname)
  socket.on('error', () => {}) // the server may close before everything is sent
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(bytes)
  await once(socket, 'close')
  const text = Buffer.concat(chunks).toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]),
    head: text.slice(0, end),
    body: text.slice(end + 4),
  }
}

/** A request line and header lines as given, by default with a valid key. */
const request = (line: string, fields: readonly string[] = [], authorization = `Bearer ${key}`) =>
  [
    `${line} HTTP/1.1`,
    'Host: api.example',
    'Connection: close',
    ...(authorization === '' ? [] : [`Authorization: ${authorization}`]),
    ...fields,
    '\r\n',
  ].join('\r\n')

const posted = (path: string, body: string, type = 'application/json') =>
  Buffer.concat([
    Buffer.from(
      request(`POST ${path}`, [`Content-Type: ${type}`, `Content-Length: ${body.length}`], ''),
    ),
    Buffer.from(body, 'latin1'),
  ])

/** The creation of a webhook, valid but for the terms. */
const hook = (terms: object, status: number, code: string): Case => [
  () => {
    const body = JSON.stringify({ url: 'https://bot.example/', ...terms })
    const fields = ['Content-Type: application/json', `Content-Length: ${body.length}`]
    return request('POST /me/webhooks', fields, `Bearer ${token}`) + body
  },
  status,
  code,
]

type Case = readonly [request: () => string | Buffer, status: number, code: string | null]
const get = (path: string, status: number, code: string): Case => [
  () => request(`GET ${path}`),
  status,
  code,
]

const NOT_INTEGERS = [
  ...['0', '-1', '+1', '1.0', '1e1', '0x1', '', '%20', '%201', '1%20', 'NaN', 'Infinity', 'null'],
  ...['true', '[]', '%5B1%5D', '1,2', '%00', '1%00', '%EF%BC%91', '%D9%A1', '99999999999'],
  ...[
    '1;DROP%20TABLE%20swaps',
    "1'",
    '1--',
    '1)%20OR%20(1=1',
    '%7Blimit:UInt32%7D',
    '%F0%9F%92%B0',
  ],
]
const NOT_MINTS = [
  ...['1', 'mint', '0'.repeat(44), 'O'.repeat(43), 'l'.repeat(44), MINT.slice(9), `${MINT}1`],
  ...['%00', `${MINT}%00`, `${MINT}%20`, '%F0%9F%92%B0', "'%20OR%201=1--", '%7Bmint:String%7D'],
  ...['..%2F..%2Fetc%2Fpasswd', 'a'.repeat(5000), '%2e%2e', '%ff%fe', 'null', '[object%20Object]'],
]
const NOT_ALIASES = [
  ...['W0', 'W4', 'W01', 'w1', 'W', '1', 'W-1', 'W1.0', 'W+1', '%20W1', 'W1%20', 'W1%00', '%57%30'],
  ...["W1'--", 'W1%20OR%201=1', '%EF%BC%B71', 'W%EF%BC%91', 'W9999999999999999', '%F0%9F%92%B0'],
]
const NOT_CURSORS = [
  ...[
    '',
    'x',
    '%00',
    '%20',
    'null',
    '..',
    'AAAA',
    'A'.repeat(2000),
    '%F0%9F%92%B0',
    "'--",
    '%3D%3D',
  ],
]
const NOT_BODIES = [
  ...['', ' ', '{', '}', '[]', '[[', 'null', 'true', '1', '"wallet"', '{}', "{'wallet':'x'}"],
  ...[
    '{"wallet":null}',
    '{"wallet":["x"]}',
    '{"wallet":{"$gt":""}}',
    '{"__proto__":{"wallet":"x"}}',
  ],
  ...['{"constructor":{"prototype":{}}}', '[{"wallet":"x"}]', 'wallet=x', '\u0000', '\ufeff{}'],
  ...[
    '['.repeat(16_000),
    '{"a":'.repeat(3000),
    '{"wallet":1e999}',
    '{"wallet":"\\ud800"}',
    '\xff\xfe',
  ],
]
const NOT_RECEIVERS = [
  ...['', 'x', 'bot.example', '//bot.example', 'https://', 'https:bot', 'javascript:alert(1)'],
  ...['http://bot.example/', 'ftp://bot.example/', 'file:///etc/passwd', 'https://localhost/'],
  ...[
    'https://a@bot.example/',
    'https://a:b@bot.example/',
    'https://bot.example/#',
    'https://bot/',
  ],
  ...['https://a.localhost/', 'https://0/', 'https://2130706433/', 'https://0x7f.1/'],
  ...['https://127.0.0.1/', 'https://10.0.0.1/', 'https://192.168.1.1/', 'https://172.16.0.1/'],
  ...['https://169.254.169.254/latest', 'https://100.64.0.1/', 'https://224.0.0.1/'],
  ...['https://255.255.255.255/', 'https://[::1]/', 'https://[::]/', 'https://[fe80::1]/'],
  ...['https://[fc00::1]/', 'https://[::ffff:10.0.0.1]/', 'https://[::ffff:7f00:1]/'],
  ...['https://[64:ff9b::a00:1]/', 'https://[ff02::1]/', `https://bot.example/${'a'.repeat(1981)}`],
]
/** A token without a signature, as RFC 8725 2.1 warns of. */
const NONE_TOKEN = ['{"alg":"none"}', '{"sub":"x","aud":"dashboard"}', '']
  .map((part) => Buffer.from(part).toString('base64url'))
  .join('.')
const METHODS = ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND', 'QUERY']

const CASES: readonly Case[] = [
  ...[
    ...['/trades', `/tokens/${MINT}/swaps`, '/wallets/W1/trades', '/wallets/W1/positions'],
  ].flatMap((path) => [
    ...NOT_INTEGERS.map((value) => get(`${path}?limit=${value}`, 400, 'invalid_parameter')),
    ...NOT_CURSORS.map((value) => get(`${path}?cursor=${value}`, 400, 'invalid_cursor')),
  ]),
  ...[
    '/wallets?page',
    '/tokens/held?page',
    '/tokens/held?min_wallets',
    '/wallets/holdings?page',
  ].flatMap((path) =>
    NOT_INTEGERS.map((value) => get(`${path}=${value}`, 400, 'invalid_parameter')),
  ),
  ...[
    ...[
      'min_holding_seconds=-1',
      'max_holding_seconds=x',
      'min_holding_seconds=2&max_holding_seconds=1',
    ],
    ...['min_holding_seconds=1&min_holding_seconds=1', 'alias='],
  ].map((query) => get(`/wallets/holdings?${query}`, 400, 'invalid_parameter')),
  ...[
    ...['sort', 'order', 'status', 'period', 'mode'].flatMap((name) => [
      ...[`${name}=`, `${name}=x`, `${name}=ALL`, `${name}=7D`, `${name}=all,7d`],
    ]),
    ...['sort=pnl&sort=pnl', 'order=asc&order=desc', 'mode=raw&mode=strict'],
    ...['min_trades=', 'min_trades=-1', 'min_trades=1e3', 'min_trades=1&min_trades=2'],
    ...['min_trades=1000001', 'period=1d', 'sort=score&period=30d', 'sort=pnl&page=0'],
  ].map((query) => get(`/wallets?${query}`, 400, 'invalid_parameter')),
  ...NOT_ALIASES.map((value) => get(`/wallets/holdings?alias=${value}`, 404, 'wallet_not_found')),
  ...['from', 'to', 'at'].flatMap((name) =>
    [...NOT_INTEGERS, '1577836799', '4102444800'].map((value) =>
      get(`/${name === 'at' ? 'prices/sol' : 'trades'}?${name}=${value}`, 400, 'invalid_parameter'),
    ),
  ),
  ...[
    ...['from=1700000000&to=1700000000', 'side=', 'side=Buy', 'side=buy&side=buy', 'wallet='],
    ...['mint=', `mint=${MINT}&mint=${MINT}`, 'from=1700000000&from=1700000000'],
  ].map((query) => get(`/trades?${query}`, 400, 'invalid_parameter')),
  ...NOT_MINTS.filter((value) => value !== '' && value.length < 2000).map((value) =>
    get(`/trades?mint=${value}`, 400, 'invalid_parameter'),
  ),
  ...[
    ...[
      '',
      '?q=',
      '?Q=bonk',
      '?q=a&q=a',
      `?q=${'a'.repeat(65)}`,
      `?q=${'%F0%9F%92%B0'.repeat(65)}`,
    ],
    ...['?q=%00', '?q=a%0A', '?q=%7F', '?q=a%C2%85b', '?q[]=a'],
  ].map((query) => get(`/search${query}`, 400, 'invalid_parameter')),
  ...['from', 'to'].flatMap((name) =>
    [...NOT_INTEGERS, '1577836799', '4102444800'].map((value) =>
      get(`/wallets/W1/pnl?${name}=${value}`, 400, 'invalid_parameter'),
    ),
  ),
  ...[
    ...['positions?status=', 'positions?status=Open', 'positions?status=open&status=open'],
    ...['positions?limit=201', 'positions?mode=', 'positions?mode=RAW', 'pnl?mode=exact'],
    ...['pnl?interval=', 'pnl?interval=1m', 'pnl?interval=1h&interval=1d', 'pnl?mode=raw&mode=raw'],
    ...['pnl?from=1700000000&to=1700000000', 'pnl?from=1700000001&to=1700000000'],
    'pnl?interval=1h&from=1577836800',
  ].map((query) => get(`/wallets/W1/${query}`, 400, 'invalid_parameter')),
  ...NOT_ALIASES.map((value) => get(`/trades?wallet=${value}`, 404, 'wallet_not_found')),
  ...['', '/swaps', '/wallet-aggregates'].flatMap((what) =>
    NOT_MINTS.map((value) => get(`/tokens/${value}${what}`, 400, 'invalid_parameter')),
  ),
  ...['metrics', 'holdings', 'trades', 'positions', 'pnl'].flatMap((what) =>
    NOT_ALIASES.map((value) => get(`/wallets/${value}/${what}`, 404, 'wallet_not_found')),
  ),
  ...['/', '/docs/rest', '/openapi.json', '/status', '/healthz', '/readyz'].flatMap((path) =>
    METHODS.filter((method) => method !== 'HEAD').map(
      (method): Case => [() => request(`${method} ${path}`), 405, 'method_not_allowed'],
    ),
  ),
  ...['/trades', '/wallets', '/tokens/held', '/ws', '/me/api'].flatMap((path) =>
    METHODS.map(
      (method): Case => [
        () => request(`${method} ${path}`),
        405,
        method === 'HEAD' ? null : 'method_not_allowed',
      ],
    ),
  ),
  ...['limit', 'cursor'].map((name) =>
    get(
      `/trades?${name}=1&${name}=1`,
      400,
      name === 'limit' ? 'invalid_parameter' : 'invalid_cursor',
    ),
  ),
  // A query that is too long, on every kind of path, in the order of rule D2.
  ...['/', '/docs', '/openapi.json', '/dashboard', '/healthz', '/readyz', '/status', '/trades'].map(
    (path) => get(`${path}?${'a'.repeat(2049)}`, 400, 'invalid_parameter'),
  ),
  get(`/wallets/W99/metrics?limit=1&${'&'.repeat(2048)}`, 400, 'invalid_parameter'),
  [() => request(`GET /ws?${'a'.repeat(2049)}`, ['Upgrade: websocket']), 400, 'invalid_parameter'],
  [() => request(`GET /trades?${'a'.repeat(2049)}`, [], ''), 401, 'unauthorized'],
  get(`/nothing?${'a'.repeat(2049)}`, 404, 'not_found'),
  [() => request(`POST /trades?${'a'.repeat(2049)}`), 405, 'method_not_allowed'],
  [
    () => request(`GET /trades?${'a'.repeat(2049)}`, ['Content-Length: 16385']),
    413,
    'payload_too_large',
  ],
  [
    () => request(`GET /trades?cursor=${codec.encode(`swaps:${MINT}`, EVENT_KEY)}`),
    400,
    'invalid_cursor',
  ],
  [
    () => request(`GET /tokens/${MINT}/swaps?cursor=${codec.encode('trades', EVENT_KEY)}`),
    400,
    'invalid_cursor',
  ],
  ...['W2:open:raw', 'W1:all:raw', 'W1:open:strict'].map((scope): Case => {
    const cursor = codec.encode(`positions:${scope}`, EVENT_KEY)
    return [() => request(`GET /wallets/W1/positions?cursor=${cursor}`), 400, 'invalid_cursor']
  }),
  [
    () => request(`GET /wallets/W1/trades?cursor=${codec.encode('trades:W2', EVENT_KEY)}`),
    400,
    'invalid_cursor',
  ],
  ...[
    ...[
      '//trades',
      '/trades/',
      '/TRADES',
      '/%74rades',
      '/trades%2F',
      '/trades%00',
      '/./trades/..;/admin',
    ],
    ...[
      '/wallets/W1/metrics/',
      '/wallets//metrics',
      '/tokens//swaps',
      '/.env',
      '/admin',
      '/metrics',
      '/dashboard/',
      '/dashboard/page/../../api.js',
      '/dashboard/lib/..%2f..%2fpackage.json',
    ],
    ...[
      '/%',
      '/%zz',
      '/\\trades',
      '/__proto__',
      '/constructor',
      '/%F0%9F%92%B0',
      `/${'a'.repeat(8000)}`,
    ],
  ].map((path) => get(path, 404, 'not_found')),
  // Malformed or misplaced API keys.
  ...[
    ...[
      '',
      'Bearer',
      'Bearer ',
      'Basic dHc6dHc=',
      'bearer tw_',
      'Bearer tw_short',
      `Bearer tw_${'1'.repeat(44)}`,
    ],
    ...[
      'Bearer null',
      'Bearer undefined',
      "Bearer ' OR 1=1--",
      `Bearer ${'A'.repeat(8000)}`,
      'Bearer a b',
    ],
  ].map((value): Case => [() => request('GET /trades', [], value), 401, 'unauthorized']),
  [() => request('GET /trades', [], key), 401, 'unauthorized'],
  [() => request('GET /trades', [], `Bearer ${key} ${key}`), 401, 'unauthorized'],
  ...['api_key', 'key', 'token', 'authorization', 'access_token'].map(
    (name): Case => [() => request(`GET /trades?${name}=${key}`, [], ''), 401, 'unauthorized'],
  ),
  [
    () => request('GET /trades', [`Cookie: api_key=${key}`, `X-Api-Key: ${key}`], ''),
    401,
    'unauthorized',
  ],
  // A token in place of a key, a key in place of a token, and other strings.
  ...[
    ...['GET /me/api', 'GET /me/usage', 'GET /me/events', 'POST /me/api/rotate'],
    ...['POST /auth/logout', 'POST /auth/logout-everywhere', 'GET /me/keys', 'POST /me/keys'],
    ...['DELETE /me/keys/a', 'GET /me/sessions', 'DELETE /me/sessions/a', 'POST /me/session-key'],
    ...['GET /me/webhooks', 'POST /me/webhooks', 'PATCH /me/webhooks/a', 'DELETE /me/webhooks/a'],
    ...['POST /me/webhooks/a/secret', 'POST /me/webhooks/a/replay', 'POST /me/webhooks/a/test'],
    ...['GET /me/webhooks/a/deliveries', 'GET /billing/pro/payments'],
  ].flatMap((line): Case[] => [
    [() => request(line), 401, 'unauthorized'],
    [() => request(line, [], ''), 401, 'unauthorized'],
    [() => request(line, [`Cookie: token=${token}`, `X-Token: ${token}`], ''), 401, 'unauthorized'],
    [() => request(line, [], `Bearer ${token} ${token}`), 401, 'unauthorized'],
    [() => request(line, [], `Bearer ${token.slice(0, -1)}`), 401, 'unauthorized'],
    [() => request(line, [], `Bearer ${token}.AAAA`), 401, 'unauthorized'],
    [() => request(line, [], `Bearer ${'A'.repeat(8000)}.e30.AA`), 401, 'unauthorized'],
    [() => request(line, [], `Bearer ${NONE_TOKEN}`), 401, 'unauthorized'],
    [() => request(`${line}?access_token=${token}`, [], ''), 401, 'unauthorized'],
    [() => request(line, ['Content-Length: 16385'], `Bearer ${token}`), 413, 'payload_too_large'],
  ]),
  ...[
    ...NOT_INTEGERS.map((value) => `limit=${value}`),
    ...["by=x'--", 'by=DAY', 'by=__proto__', 'by=', 'by=hour&by=day', 'limit=101'],
  ].map(
    (query): Case => [
      () => request(`GET /me/usage?${query}`, [], `Bearer ${token}`),
      400,
      'invalid_parameter',
    ],
  ),
  [() => request('GET /wallets', [], `Bearer ${token}`), 401, 'unauthorized'],
  // A token opens the feed only with Pro, whatever else is sent.
  ...['', ', bearer', ', tw_x'].map(
    (more): Case => [
      () =>
        request(
          'GET /ws',
          ['Upgrade: websocket', `Sec-WebSocket-Protocol: bearer, ${token}${more}`],
          more === '' ? '' : `Bearer ${token}`,
        ),
      403,
      'pro_required',
    ],
  ),
  ...[`${NONE_TOKEN}`, '.', '..', 'a.b', 'a.b.c', 'tw_.a.b', `${'A'.repeat(3000)}.e30.AA`].map(
    (value): Case => [
      () => request('GET /ws', ['Upgrade: websocket'], `Bearer ${value}`),
      401,
      'unauthorized',
    ],
  ),
  [() => request(`GET /ws?access_token=${token}`, ['Upgrade: websocket'], ''), 401, 'unauthorized'],
  [
    () => request('GET /ws', ['Upgrade: websocket', `Cookie: token=${token}`], ''),
    401,
    'unauthorized',
  ],
  ...['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE'].flatMap((method) =>
    ['/auth/nonce', '/auth/login', '/auth/logout', '/me/api/rotate'].map(
      (path): Case => [
        () => request(`${method} ${path}`),
        405,
        method === 'HEAD' ? null : 'method_not_allowed',
      ],
    ),
  ),
  ...['/auth', '/auth/', '/auth/nonce/', '/auth/Nonce', '/me', '/me/api/', '/me/api/key'].map(
    (path): Case => [() => request(`POST ${path}`, [], `Bearer ${token}`), 404, 'not_found'],
  ),
  // Invalid bodies.
  ...['/auth/nonce', '/auth/login'].flatMap((path): Case[] => [
    ...NOT_BODIES.map((body): Case => [() => posted(path, body), 400, 'invalid_parameter']),
    ...[
      'text/plain',
      'application/xml',
      'multipart/form-data; boundary=x',
      'application/jsonx',
      '*/*',
      '',
    ].map((type): Case => [() => posted(path, '{}', type), 415, 'unsupported_media_type']),
    [() => posted(path, `{"x":"${'x'.repeat(16_384)}"}`), 413, 'payload_too_large'],
    [() => request(`POST ${path}`, [], ''), 415, 'unsupported_media_type'],
  ]),
  ...NOT_MINTS.map(
    (value): Case => [
      () => posted('/auth/nonce', JSON.stringify({ wallet: value })),
      400,
      'invalid_parameter',
    ],
  ),
  ...['', 'x', 'a\u0000b', '{"wallet":1}'].map(
    (message): Case => [
      () => posted('/auth/login', JSON.stringify({ wallet: MINT, message, signature: 'x' })),
      401,
      'invalid_signature',
    ],
  ),
  // Receivers that are no place on the public internet, and filters of no wallet or token.
  ...NOT_RECEIVERS.map((url) => hook({ url }, 400, 'invalid_parameter')),
  ...[[], ['1'], [1], 'x', {}, [MINT, 'x'], Array(101).fill(MINT)].map((mints) =>
    hook({ mints }, 400, 'invalid_parameter'),
  ),
  ...[[], 'W1', [1], [null], {}, Array(101).fill('W1')].map((wallets) =>
    hook({ wallets }, 400, 'invalid_parameter'),
  ),
  ...NOT_ALIASES.map((alias) => hook({ wallets: ['W1', alias] }, 404, 'wallet_not_found')),
  ...NOT_CURSORS.map((after) => hook({ after }, 400, 'invalid_cursor')),
  hook({ after: codec.encode('views', EVENT_KEY) }, 400, 'invalid_cursor'),
  ...['', 'Trades', 'all', null, ['trades']].map((channel) =>
    hook({ channel }, 400, 'invalid_parameter'),
  ),
  // Bodies and headers out of bounds.
  [() => request('GET /trades', ['Content-Length: 16385']), 413, 'payload_too_large'],
  [() => request('GET /wallets', ['Content-Length: 99999999999']), 413, 'payload_too_large'],
  [() => request('GET /trades', ['Content-Length: x']), 400, 'bad_request'],
  [() => request('GET /trades', ['Content-Length: 1', 'Content-Length: 2']), 400, 'bad_request'],
  [
    () => request('GET /trades', ['Content-Length: 1', 'Transfer-Encoding: chunked']),
    400,
    'bad_request',
  ],
  [() => request('GET /trades', ['Bad Field: x']), 400, 'bad_request'],
  [() => request('GET /trades', ['X-A: a\u0000b']), 400, 'bad_request'],
  [() => request('GET /trades', [`X-Big: ${'a'.repeat(17_000)}`]), 431, 'headers_too_large'],
  [
    () =>
      request(
        'GET /trades',
        Array.from({ length: 1500 }, (_, n) => `X-${n}: aaaaaaaaaaaaa`),
      ),
    431,
    'headers_too_large',
  ],
  [() => request(`GET /trades?x=${'a'.repeat(17_000)}`), 431, 'headers_too_large'],
  [() => 'GET /trades\r\n\r\n', 401, 'unauthorized'],
  [() => 'BREW /coffee HTCPCP/1.0\r\n\r\n', 400, 'bad_request'],
  [
    () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n',
    400,
    'bad_request',
  ],
  [() => Buffer.alloc(2000, 255), 400, 'bad_request'],
  [() => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'bad_request'],
  [() => request('GET *'), 404, 'not_found'],
  [() => request('GET http://169.254.169.254/latest'), 404, 'not_found'],
  // Handshakes.
  [() => request('GET /ws'), 426, 'upgrade_required'],
  [() => request('GET /ws', ['Upgrade: h2c']), 426, 'upgrade_required'],
  [() => request('GET /ws', ['Upgrade: websocket'], ''), 401, 'unauthorized'],
]

test(`${CASES.length} bad requests: each is refused with its status and code, nothing is leaked, nothing is charged (rules D1, D2)`, async (t) => {
  t.true(CASES.length >= 150)
  const wrong: string[] = []
  for (const [bytes, status, code] of CASES) {
    const sent = bytes()
    const answer = await send(sent)
    const problem = answer.body === '' ? {} : JSON.parse(answer.body)
    const isAsSaid =
      answer.status === status &&
      (code === null ? answer.body === '' : problem.status === status && problem.code === code) &&
      problem.detail === problem.code &&
      /^x-content-type-options: nosniff$/im.test(answer.head) &&
      !/ClickHouse|Code: \d|SELECT|stack|node:|\/dist\/|\.ts/.test(answer.body) &&
      !answer.body.includes(key) &&
      !answer.body.includes(token)
    const what = sent.toString().replaceAll(key, '<key>').replaceAll(token, '<token>').slice(0, 160)
    if (!isAsSaid) wrong.push(JSON.stringify([what, status, code, answer.status, answer.body]))
  }
  t.deepEqual(wrong, [])
  t.is(await api.credits.left(wallet), 1000)
  t.false(logged.includes(key) || logged.includes(token))
  t.notRegex(logged, /"level":[56]0/)
})

test('a query of 2,048 bytes is read, unknown parameters are ignored', async (t) => {
  const query = `limit=0&${'a'.repeat(2040)}`
  const [declared, none] = [
    await send(request(`GET /trades?${query}`)),
    await send(request(`GET /healthz?${query}`)),
  ]
  t.deepEqual(JSON.parse(declared.body).errors, [
    { in: 'query', name: 'limit', message: 'expected an integer from 1 to 100' },
  ])
  t.is(none.status, 200)
})

test('a client that disconnects in the middle of a body causes no failure', async (t) => {
  const { hostname, port } = new URL(api.url)
  const countRequests = async () => {
    const counts = /api_request_seconds_count\{resource="\/auth\/nonce",status="\d+"\} (\d+)/g
    const of = (await registry.metrics()).matchAll(counts)
    return [...of].reduce((sum, [, count]) => sum + Number(count), 0)
  }
  const before = await countRequests()
  const fields = ['Content-Type: application/json', 'Content-Length: 1000']
  const socket = createConnection(Number(port), hostname)
  socket.write(request('POST /auth/nonce', fields))
  socket.write('{"wallet":')
  await once(socket, 'connect')
  // This request is answered after the header of the other one was read.
  t.is((await send(request('GET /status'))).status, 200)
  socket.resetAndDestroy()
  while ((await countRequests()) === before) await send(request('GET /status'))
  t.notRegex(logged, /"level":[56]0/)
})

test('a client that sends a request slowly, or nothing after one, is disconnected', async (t) => {
  // Only the timeout under test is short, so that on a slow machine no other one closes the
  // connection first.
  const long = 600_000
  const answerTo = async (bytes: string, bounds: object) => {
    const server = createHttpServer({
      headersTimeout: long,
      requestTimeout: long,
      keepAliveTimeout: long,
      connectionsCheckingInterval: 10,
      ...bounds,
    })
    const port = await server.listen((_request, response) => response.end('ok'), '127.0.0.1', 0)
    const socket = createConnection(port, '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
    })
    socket.write(bytes)
    await once(socket, 'close')
    await server.close(1000)
    return text
  }
  const head = 'GET /trades HTTP/1.1\r\nHost: a\r\n'
  const refusal = /^HTTP\/1.1 408 Request Timeout\r\n.*"code":"request_timeout"/s
  t.regex(await answerTo(`${head}X-Slow: `, { headersTimeout: 50 }), refusal)
  t.regex(await answerTo(`${head}\r\n`, { keepAliveTimeout: 50 }), /^HTTP\/1.1 200 OK\r\n.*ok$/s)
})
