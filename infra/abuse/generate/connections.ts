import { type AbuseCase, request } from '../case.ts'
import {
  BEARER,
  connectionCase,
  HANDSHAKE,
  statusRequest,
  tradesRequest,
  upgradeRequest,
} from './connection-case.ts'

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'

/**
 * Requests whose framing two readers may understand differently (RFC 9112 section 11.2): one
 * response, and the connection ends.
 */
const SMUGGLING: readonly (readonly [what: string, text: string])[] = [
  [
    'length and chunks',
    `${statusRequest(['Content-Length: 6', 'Transfer-Encoding: chunked'])}0\r\n\r\n${SMUGGLED}`,
  ],
  [
    'chunks and length',
    `${statusRequest(['Transfer-Encoding: chunked', 'Content-Length: 6'])}0\r\n\r\n${SMUGGLED}`,
  ],
  [
    'two lengths',
    `${statusRequest(['Content-Length: 0', `Content-Length: ${SMUGGLED.length}`])}${SMUGGLED}`,
  ],
  ['lengths in a list', `${statusRequest([`Content-Length: 0, ${SMUGGLED.length}`])}${SMUGGLED}`],
  ['chunked with a space', `${statusRequest(['Transfer-Encoding : chunked'])}0\r\n\r\n${SMUGGLED}`],
  [
    'chunked with a tab',
    `${statusRequest(['Transfer-Encoding:\tchunked\t,x'])}0\r\n\r\n${SMUGGLED}`,
  ],
  [
    'chunked twice',
    `${statusRequest(['Transfer-Encoding: chunked, chunked'])}0\r\n\r\n${SMUGGLED}`,
  ],
  ['an unknown coding', `${statusRequest(['Transfer-Encoding: x'])}${SMUGGLED}`],
  ['a folded coding', `${statusRequest(['Transfer-Encoding:', ' chunked'])}0\r\n\r\n${SMUGGLED}`],
  ['a coding after NUL', `${statusRequest(['Transfer-Encoding: \0chunked'])}0\r\n\r\n${SMUGGLED}`],
  ['a bare LF after the request line', `GET /status HTTP/1.1\nHost: a\r\n\r\n${SMUGGLED}`],
  ['bare LF alone', `GET /status HTTP/1.1\nHost: a\n\n${SMUGGLED}`],
  ['a bare CR in a field', `${statusRequest(['X: a\rTransfer-Encoding: chunked'])}${SMUGGLED}`],
  [
    'a chunk with a bare LF',
    `${statusRequest(['Transfer-Encoding: chunked'])}1\na\n0\n\n${SMUGGLED}`,
  ],
  [
    'a chunk longer than it says',
    `${statusRequest(['Transfer-Encoding: chunked'])}1\r\nab\r\n0\r\n\r\n${SMUGGLED}`,
  ],
]

/** Unusual request lines, each with its allowed statuses. */
const LINES: readonly (readonly [line: string, statuses: readonly number[]])[] = [
  ['GET http://169.254.169.254/latest', [400, 404]],
  ['GET http://user:password@evil.example/trades', [200, 400, 404]],
  ['GET https://127.0.0.1:9464/metrics', [400, 404]],
  ['GET http://:0/trades', [200, 400, 404]],
  ['GET *', [400, 404]],
  ['OPTIONS *', [400, 404]],
  ['GET //trades', [404]],
  ['GET /trades/', [404]],
  ['GET /TRADES', [404]],
  ['GET /%74rades', [404]],
  ['GET /./trades/..;/admin', [404]],
  ['GET /../../etc/passwd', [404]],
  ['GET /%2e%2e/%2e%2e/etc/passwd', [404]],
  ['GET /dashboard/page/../../api.js', [404]],
  ['GET /dashboard/lib/..%2f..%2fpackage.json', [404]],
  ['GET /\\trades', [404]],
  ['GET /%', [404]],
  ['GET /__proto__', [404]],
  ['GET /metrics', [404]],
  ['GET /.env', [404]],
  [`GET /${'a/'.repeat(3000)}`, [404]],
  [`GET /${'%2F'.repeat(3000)}`, [404]],
  [`GET /${'a'.repeat(15_000)}`, [404]],
  [`GET /${'a'.repeat(17_000)}`, [431]],
  ['GET trades', [400]],
  ['GET', [400]],
  ['', [400]],
  ['GET /trades /trades', [400]],
  ['GET /tra\xffdes', [400, 404]],
  ['GET /trades#fragment', [200, 400, 404]],
  ['CONNECT 169.254.169.254:80', [0, 400, 404, 405]],
  ['PRI *', [400, 404, 405]],
]

const HEADS: readonly (readonly [what: string, text: string, statuses: readonly number[]])[] = [
  ['no host', 'GET /status HTTP/1.1\r\nConnection: close\r\n\r\n', [400]],
  ['an empty host', 'GET /status HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n', [200, 400]],
  [
    'a host with a path',
    'GET /status HTTP/1.1\r\nHost: a/b?c\r\nConnection: close\r\n\r\n',
    [200, 400],
  ],
  ['two hosts', 'GET /status HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n', [400]],
  [
    'two equal hosts',
    'GET /status HTTP/1.1\r\nHost: a\r\nhOsT: a\r\nConnection: close\r\n\r\n',
    [400],
  ],
  ['HTTP/1.0', 'GET /status HTTP/1.0\r\n\r\n', [200, 400]],
  ['HTTP/0.9', 'GET /status\r\n\r\n', [200, 400]],
  ['HTTP/1.2', 'GET /status HTTP/1.2\r\nHost: a\r\n\r\n', [200, 400, 505]],
  ['HTTP/2.0', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  ['HTTP/9.9', 'GET /status HTTP/9.9\r\nHost: a\r\n\r\n', [400, 505]],
  ['another protocol', 'BREW /coffee HTCPCP/1.0\r\n\r\n', [400]],
  ['a TLS hello', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n', [400]],
  ['SSH', 'SSH-2.0-OpenSSH_9.7\r\n', [400]],
  ['zeros', '\0'.repeat(2000), [400]],
  ['bytes of 255', '\xff'.repeat(2000), [400]],
  ['blank lines first', `\r\n\r\n\r\n${tradesRequest('GET /status')}`, [200, 400]],
  [
    '10,000 blank lines first',
    `${'\r\n'.repeat(10_000)}${tradesRequest('GET /status')}`,
    [200, 400, 431],
  ],
  [
    '2000 fields',
    tradesRequest(
      'GET /status',
      Array.from({ length: 2000 }, (_, n) => `a${n}:`),
    ),
    [200, 400, 431],
  ],
  [
    '3000 empty fields of one name',
    tradesRequest(
      'GET /status',
      Array.from({ length: 3000 }, () => 'a:'),
    ),
    [200, 400, 431],
  ],
  [
    'many connection options',
    tradesRequest('GET /status', [`Connection: ${'x, '.repeat(4000)}close`]),
    [200, 400],
  ],
]

const UPGRADES: readonly (readonly [what: string, text: string, statuses: readonly number[]])[] = [
  ['no upgrade', request('GET /ws', { credential: BEARER }), [426]],
  [
    'to h2c',
    upgradeRequest('/ws', ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA']),
    [426],
  ],
  ['to foo on another path', upgradeRequest('/status', ['Upgrade: foo']), [200]],
  ['to foo on no path', upgradeRequest('/nothing', ['Upgrade: foo']), [404]],
  ['to websocket on another path', upgradeRequest('/trades', HANDSHAKE), [200]],
  ['by a stranger', upgradeRequest('/ws', HANDSHAKE, null), [401]],
  ['with the key in the URL', upgradeRequest('/ws?api_key={{key}}', HANDSHAKE, null), [401]],
  ['with a token without Pro', upgradeRequest('/ws', HANDSHAKE, 'Bearer {{token}}'), [403]],
  [
    'with a token as subprotocol',
    upgradeRequest('/ws', [...HANDSHAKE, 'Sec-WebSocket-Protocol: bearer, {{token}}'], null),
    [403],
  ],
  [
    'with a bad subprotocol',
    upgradeRequest('/ws', [...HANDSHAKE, 'Sec-WebSocket-Protocol: ,,bearer,'], null),
    [400, 401],
  ],
  [
    'without a key',
    upgradeRequest('/ws', ['Upgrade: websocket', 'Sec-WebSocket-Version: 13']),
    [400, 426],
  ],
  [
    'with a short key',
    upgradeRequest('/ws', [
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: x',
    ]),
    [400, 426],
  ],
  [
    'with version 12',
    upgradeRequest('/ws', [
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 12',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ]),
    [400, 426],
  ],
  [
    'with bad extensions',
    upgradeRequest('/ws', [...HANDSHAKE, 'Sec-WebSocket-Extensions: ;;;=']),
    [101, 400],
  ],
  [
    'by POST',
    request('POST /ws', {
      credential: BEARER,
      keepsAlive: true,
      fields: ['Connection: Upgrade', ...HANDSHAKE],
    }),
    [405],
  ],
  ['with a body', upgradeRequest('/ws', ['Upgrade: foo', 'Content-Length: 16385']), [413, 426]],
]

const TEN = statusRequest().repeat(10)
const WAITS = { waitsForClose: true }
const ENDS = { endsAfter: true }

/** Cases of other groups. */
const OTHERS: readonly Parameters<typeof connectionCase>[] = [
  [
    'smuggling',
    'a body that is a request',
    [`${tradesRequest('GET /status', [`Content-Length: ${SMUGGLED.length}`])}${SMUGGLED}`],
    { statuses: [200, 400], answers: 1 },
    WAITS,
  ],
  ['pipeline', '10 requests', [TEN], { statuses: [200], answers: 10 }],
  ['pipeline', '100 requests', [TEN.repeat(10)], { statuses: [200], answers: 100 }],
  [
    'pipeline',
    '10 requests and bytes that are none',
    [`${TEN}\0\0\0\0\r\n\r\n`],
    { statuses: [200, 400, 0] },
    WAITS,
  ],
  [
    'pipeline',
    'one after a close',
    [`${tradesRequest('GET /status')}${SMUGGLED}`],
    { statuses: [0, 200], answers: 1 },
    WAITS,
  ],
  [
    'pieces',
    'one byte a piece',
    [...tradesRequest('GET /status')].flatMap((byte) => [byte, 1]),
    { statuses: [200] },
  ],
  [
    'pieces',
    'cut within the head',
    [tradesRequest('GET /status').slice(0, 30)],
    { statuses: [0, 400] },
    ENDS,
  ],
  [
    'pieces',
    'cut within the body',
    [
      request('POST /auth/nonce', {
        fields: ['Content-Type: application/json', 'Content-Length: 100'],
        body: '{',
      }),
    ],
    { statuses: [0, 400] },
    ENDS,
  ],
  ['pieces', 'nothing', [], { statuses: [0] }, ENDS],
  [
    'pieces',
    'half closed after the request',
    [tradesRequest('GET /trades')],
    { statuses: [0, 200] },
    ENDS,
  ],
]

/** Handwritten cases that write bytes to a TCP connection. */
export function connectionCases(): AbuseCase[] {
  return [
    ...SMUGGLING.map(([what, text]) =>
      connectionCase('smuggling', what, [text], { statuses: [0, 400], answers: 1 }, WAITS),
    ),
    ...LINES.map(([line, statuses]) =>
      connectionCase('request line', line.slice(0, 40), [tradesRequest(line)], { statuses }),
    ),
    ...HEADS.map(([what, text, statuses]) => connectionCase('head', what, [text], { statuses })),
    ...UPGRADES.map(([what, text, statuses]) =>
      connectionCase('upgrade', what, [text], { statuses }),
    ),
    ...OTHERS.map((one) => connectionCase(...one)),
  ]
}
