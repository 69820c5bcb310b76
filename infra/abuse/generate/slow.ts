import { type AbuseCase, type Exchange, request } from '../case.ts'
import {
  BEARER,
  connectionCase,
  statusRequest,
  tradesRequest,
  upgradeRequest,
} from './connection-case.ts'

/**
 * Cases that only a timeout of the server ends. Each takes tens of seconds; they run concurrently.
 */
export function slowCases(): AbuseCase[] {
  const slow = (
    what: string,
    pieces: Exchange['pieces'],
    statuses: readonly number[],
  ): AbuseCase => ({
    ...connectionCase('slow', what, pieces, { statuses }, { waitsForClose: true }),
    kind: 'slow',
    limitMs: 75_000,
  })
  const drops = (text: string, pauseMs: number) => [...text].flatMap((byte) => [byte, pauseMs])
  const chunks = request('POST /auth/nonce', {
    keepsAlive: true,
    fields: ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
  })
  const post = request('POST /auth/nonce', {
    keepsAlive: true,
    fields: ['Content-Type: application/json', 'Content-Length: 1000'],
  })
  return [
    slow('nothing at all', [], [0, 408]),
    slow('half a request line', ['GET /tra'], [408]),
    slow('a head without its end', [tradesRequest('GET /trades').slice(0, -2)], [408]),
    slow(
      'a head drop by drop',
      drops(`GET /status HTTP/1.1\r\n${'X: y\r\n'.repeat(20)}`, 500),
      [0, 408],
    ),
    slow('a body that does not come', [post], [0, 408]),
    slow('a chunk of 2^64 bytes', [`${chunks}ffffffffffffffff\r\n{`], [0, 400, 408, 413]),
    slow('a body drop by drop', [post, ...drops('{"wallet":"'.padEnd(60), 1000)], [0, 408]),
    slow('chunks that do not end', [chunks, ...drops('1\r\n \r\n'.repeat(10), 1000)], [0, 408]),
    slow('a connection kept after an answer', [statusRequest()], [200]),
    slow(
      'an upgrade on a path of HTTP that is never closed',
      [upgradeRequest('/healthz', ['Upgrade: foo'])],
      [200],
    ),
    slow(
      'a body on a path that takes none',
      [
        request('GET /trades', {
          credential: BEARER,
          keepsAlive: true,
          fields: ['Content-Length: 100'],
        }),
      ],
      [200, 400, 408],
    ),
    slow(
      'a refused body that does not come',
      [
        request('GET /trades', {
          credential: 'Bearer x',
          keepsAlive: true,
          fields: ['Content-Length: 100'],
        }),
      ],
      [401, 408],
    ),
  ]
}
