/** A value in a URL, with its allowed statuses. */
export type UrlValue = readonly [value: string, statuses: readonly number[]]

const refused = (values: readonly string[]): UrlValue[] => values.map((value) => [value, [400]])

const INJECTIONS = ["1'", '1--', '1)%20OR%20(1=1', '1;DROP%20TABLE%20swaps', '%7Blimit:UInt32%7D']
const NULLS = ['%00', '1%00', '%0d%0aX-A:%201', '%0a']
const UNICODE = ['%EF%BC%91', '%D9%A1', '%F0%9F%92%B0', '%E2%80%AE1', '%ED%A0%80', '%C0%B1']
const BROKEN_PERCENT = ['%', '%z', '%zz', '1%', '%E0%A4%A', '%FF%FE']
const OTHER_TYPES = ['null', 'undefined', 'true', '[]', '%5B1%5D', '%7B%7D', '[object%20Object]']

/** Values of an integer parameter from `min` to `max` (rule D2). */
export function integerValues(min: number, max: number): UrlValue[] {
  const out = [max + 1, max * 10, 2 ** 31, 2 ** 32 + 1, 2 ** 53, 2 ** 64].filter((n) => n > max)
  return [
    ...refused(['', '-1', '+1', '-0', '1.0', '1.5', '1e1', '0x10', '1,2', '%201', '1%20', 'NaN']),
    ...refused(['Infinity', '-Infinity', '1_0', '99999999999', '0'.repeat(11), '9'.repeat(1900)]),
    ...refused([...(min > 0 ? [String(min - 1)] : []), ...out.map((n) => BigInt(n).toString())]),
    ...refused([...INJECTIONS, ...NULLS, ...UNICODE, ...BROKEN_PERCENT, ...OTHER_TYPES]),
    [String(min), [200, 304, 403]],
    [String(max), [200, 304, 403]],
  ]
}

/** Values of a cursor (rule D4). */
export const CURSORS: readonly UrlValue[] = refused([
  ...['', 'x', 'AAAA', '..', '-', '_', '=', '%3D%3D', 'A'.repeat(52), 'A'.repeat(1900)],
  ...[...INJECTIONS, ...NULLS, ...UNICODE, ...BROKEN_PERCENT, ...OTHER_TYPES],
  ...['{{cursor}}A', 'A{{cursor}}', '{{cursor}}%00', '{{cursor}}={{cursor}}', '%20{{cursor}}'],
])

/** Invalid values of an enumerated parameter. Each is refused with 400. */
export const CHOICES: readonly UrlValue[] = refused([
  ...['', 'DAY', 'days', 'day,hour', '%20day', '__proto__', 'constructor', 'toString', '0'],
  ...[...INJECTIONS, ...NULLS, ...UNICODE, ...BROKEN_PERCENT],
])

const NO_ALIAS = [
  ...['W0', 'W01', 'w1', 'W', '1', 'W-1', 'W1.0', 'W+1', '%20W1', 'W1%20', 'W1%00', 'W999999'],
  ...['W9999999999999999', `W${'9'.repeat(1800)}`, "W1'--", '%EF%BC%B71', 'W%EF%BC%91', 'W1%0a'],
  ...['__proto__', 'constructor', 'null', '%F0%9F%92%B0', 'W1;W2', 'W1,W2', '*', '%25'],
]

/** Invalid wallet aliases in a query. A string that is not an alias gives 404 (rule D2). */
export const ALIASES: readonly UrlValue[] = [
  ['', [400]],
  ...[...NO_ALIAS, ...BROKEN_PERCENT].map((value): UrlValue => [value, [404]]),
]

/** Invalid wallet aliases in a path. A path that cannot be decoded gives 404. */
export const PATH_ALIASES: readonly UrlValue[] = [
  ...[...NO_ALIAS, '', '..', '.', '%2e%2e', '%2F', 'W1%2Fmetrics', '..%2F..%2Fetc%2Fpasswd'],
  ...[...BROKEN_PERCENT, 'a'.repeat(8000)],
].map((value) => [value, [404]])

/** Values of a mint in a path (rule D2). */
export const PATH_MINTS: readonly UrlValue[] = [
  ...['1', 'mint', '0'.repeat(44), 'O'.repeat(43), 'l'.repeat(44), '1'.repeat(31), '1'.repeat(33)],
  ...['{{mint}}1', '1{{mint}}', '{{mint}}%00', '%20{{mint}}', '{{mint}}%20', 'z'.repeat(44)],
  ...['a'.repeat(8000), '..', '%2e%2e', '..%2F..%2Fetc%2Fpasswd', "'%20OR%201=1--", ''],
  ...[...NULLS, ...UNICODE, ...BROKEN_PERCENT, ...OTHER_TYPES],
].map((value) => [value, [400, 404]])

/** Undeclared parameters, which are ignored (rule D2). */
export const UNKNOWN_QUERIES: readonly string[] = [
  ...['x=1', 'x', '=', '=&=&=', '&&&&', '?', '?limit=1', 'X[]=1', 'limit[]=x', 'limit.x=1'],
  ...['__proto__=1', '__proto__[limit]=1', 'constructor=1', 'toString=1', '%00=%00', '%=%', '%zz'],
  ...['x=%ff%fe', '%F0%9F%92%B0=1', 'LIMIT=x', 'x=1#limit=x', `x=${'a'.repeat(1900)}`, ';', '+=+'],
  ...[Array.from({ length: 300 }, (_, n) => `k${n}=`).join('&')],
]

/** Raw queries of more than 2 KB. */
export const LONG_QUERIES: readonly string[] = [
  `x=${'a'.repeat(2100)}`,
  '&'.repeat(3000),
  Array.from({ length: 1000 }, (_, n) => `k${n}=1`).join('&'),
  Array.from({ length: 2400 }, (_, n) => n.toString(36)).join('&'),
  'limit=1&'.repeat(1000),
  `${'%41'.repeat(1000)}=1`,
]

/** Authorization fields that give no access. */
export const BAD_CREDENTIALS: readonly (string | null)[] = [
  null,
  ...['', 'Bearer', 'Bearer ', 'Basic dHc6dHc=', 'Digest username="x"', 'bearer tw_', 'tw_x'],
  ...['Bearer null', 'Bearer undefined', "Bearer ' OR 1=1--", 'Bearer a b', 'Bearer tw_short'],
  ...['Bearer tw_11111111111111111111111111111111', `Bearer tw_${'z'.repeat(43)}`],
  ...[
    `Bearer tw_${'1'.repeat(8000)}`,
    `Bearer ${'A'.repeat(8000)}.e30.AA`,
    'Bearer ..',
    'Bearer .',
  ],
  ...['Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4IiwiYXVkIjoiZGFzaGJvYXJkIn0.', 'Bearer \xff\xfe'],
  ...['Bearer {{key}}.{{token}}', 'Bearer {{key}}1', 'Bearer {{token}}1', 'Bearer {{token}}.AAAA'],
  ...['{{key}}', '{{token}}', 'Basic {{key}}', 'Bearer,{{key}}', 'Bearer {{key}},{{key}}'],
]

/** Fields that do not change a response, except 304 for a client that has it. */
export const HARMLESS_FIELDS: readonly (readonly string[])[] = [
  [`X-Big: ${'a'.repeat(15_000)}`],
  [`Cookie: ${'a=b; '.repeat(2900)}`],
  Array.from({ length: 90 }, (_, n) => `X-${n}: ${n}`),
  [`X-Forwarded-For: ${Array.from({ length: 900 }, (_, n) => `10.0.0.${n % 256}`).join(', ')}`],
  ['X-Forwarded-For: , , ,', 'X-Forwarded-For: garbage', 'X-Forwarded-For: ::1%eth0'],
  ['X-Forwarded-For: [::1]:99999, 1.2.3.4:x', 'Forwarded: for="[::1]";proto=https'],
  ['X-Forwarded-Host: evil.example', 'X-Original-URL: /me/api', 'X-HTTP-Method-Override: DELETE'],
  ['Range: bytes=0-0,1-1,2-2,3-3', 'If-Range: "x"'],
  [`Range: bytes=${Array.from({ length: 1200 }, (_, n) => `${n}-`).join(',')}`],
  ['If-None-Match: *'],
  ['If-None-Match: W/"', 'If-None-Match: "', 'If-None-Match: \\'],
  [`If-None-Match: ${'"a", '.repeat(2500)}"b"`],
  ['If-None-Match: W/W/W/"x"', 'If-Match: "x"', 'If-Modified-Since: never'],
  ['Accept-Encoding: gzip;q=0, br;q=9, *;q=-1'],
  [`Accept-Encoding: ${'gzip, '.repeat(2000)}`],
  ['Accept: nothing/at-all', `Accept-Language: ${'de-DE;q=0.1,'.repeat(1000)}`],
  ['Content-Type: application/json', 'Content-Length: 0'],
  ['Expect: 100-continue', 'Content-Length: 0'],
  ['Origin: null', 'Sec-Fetch-Site: cross-site', 'Referer: javascript:alert(1)'],
  ['User-Agent: %n%s%x', 'X-Api-Version: ../../etc/passwd'],
  [
    'TE: trailers, deflate;q=0.5',
    'Via: 1.1 a, 1.1 b',
    'Max-Forwards: 0',
    'Upgrade-Insecure-Requests: 1',
  ],
]

/** Heads that are not HTTP/1.1, each with its allowed statuses. */
export const BAD_HEADS: readonly (readonly [
  fields: readonly string[],
  statuses: readonly number[],
])[] = [
  [['Host: other.example'], [400]],
  [['Host: api.example'], [400]],
  [['Content-Length: x'], [400]],
  [['Content-Length: -1'], [400]],
  [['Content-Length: +1'], [400]],
  [['Content-Length: 1', 'Content-Length: 2'], [400]],
  [['Content-Length: 99999999999999999999999'], [400, 413]],
  [['Content-Length: 3', 'Transfer-Encoding: chunked'], [400]],
  [['Transfer-Encoding: chunked, identity'], [0, 400]],
  [['Transfer-Encoding: xchunked'], [0, 400]],
  [['Transfer-Encoding : chunked'], [400]],
  [
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
    [0, 400],
  ],
  [['Bad Field: x'], [400]],
  [['X-A: a\0b'], [400]],
  [[': x'], [400]],
  [['X-A'], [400]],
  [[' folded: x'], [400]],
  [['X-A: x\rX-B: y'], [400]],
  [[`X-Big: ${'a'.repeat(17_000)}`], [431]],
  [[`X-${'a'.repeat(17_000)}: x`], [431]],
  [Array.from({ length: 1500 }, (_, n) => `X-${n}: aaaaaaaaaaaaa`), [431]],
]
