import { type AbuseCase, type Exchange, request } from '../case.ts'
import {
  BEARER,
  connectionCase,
  statusRequest,
  tradesRequest,
  upgradeRequest,
} from './connection-case.ts'

const post = (length: string) =>
  request('POST /auth/nonce', {
    keepsAlive: true,
    fields: ['Content-Type: application/json', length],
  })
/** A request with a body of 100 bytes that does not come. */
const unfinished = (credential: string) =>
  request('GET /trades', { credential, keepsAlive: true, fields: ['Content-Length: 100'] })
const drops = (text: string, pauseMs: number) => [...text].flatMap((byte) => [byte, pauseMs])
const CHUNKED = post('Transfer-Encoding: chunked')
const LONG = post('Content-Length: 1000')

const CASES: readonly (readonly [
  what: string,
  pieces: Exchange['pieces'],
  statuses: readonly number[],
])[] = [
  ['nothing at all', [], [0, 408]],
  ['half a request line', ['GET /tra'], [408]],
  ['a head without its end', [tradesRequest('GET /trades').slice(0, -2)], [408]],
  ['a head drop by drop', drops(`GET /status HTTP/1.1\r\n${'X: y\r\n'.repeat(20)}`, 500), [0, 408]],
  ['a body that does not come', [LONG], [0, 408]],
  ['a chunk of 2^64 bytes', [`${CHUNKED}ffffffffffffffff\r\n{`], [0, 400, 408, 413]],
  ['a body drop by drop', [LONG, ...drops('{"wallet":"'.padEnd(60), 1000)], [0, 408]],
  ['chunks that do not end', [CHUNKED, ...drops('1\r\n \r\n'.repeat(10), 1000)], [0, 408]],
  ['a connection kept after an answer', [statusRequest()], [200]],
  [
    'an upgrade on a path of HTTP that is never closed',
    [upgradeRequest('/healthz', ['Upgrade: foo'])],
    [200],
  ],
  ['a body on a path that takes none', [unfinished(BEARER)], [200, 400, 408]],
  ['a refused body that does not come', [unfinished('Bearer x')], [401, 408]],
]

/**
 * Cases that only a timeout of the server ends. Each takes tens of seconds; they run concurrently.
 */
export function slowCases(): AbuseCase[] {
  return CASES.map(([what, pieces, statuses]) => ({
    ...connectionCase('slow', what, pieces, { statuses }, { waitsForClose: true }),
    kind: 'slow',
    limitMs: 75_000,
  }))
}
