import type { Random } from '../../simulator/random.ts'
import { type AbuseCase, request } from '../case.ts'
import {
  connectionCase,
  HANDSHAKE,
  statusRequest,
  tradesRequest,
  upgradeRequest,
} from './connection-case.ts'

/**
 * Valid requests with some bytes changed, removed or doubled. The client closes its half
 * afterwards, so that the server does not wait for more.
 */
export function mutatedCases(random: Random, count: number): AbuseCase[] {
  const seeds = [
    tradesRequest('GET /trades?limit=5'),
    tradesRequest('GET /wallets/W1/metrics', ['If-None-Match: "x"']),
    tradesRequest('GET /tokens/{{mint}}/swaps?limit=2&cursor=x', ['Accept-Encoding: gzip']),
    request('POST /auth/nonce', {
      fields: ['Content-Type: application/json', 'Content-Length: 14'],
      body: '{"wallet":"x"}',
    }),
    upgradeRequest('/ws', HANDSHAKE),
    `${statusRequest(['Transfer-Encoding: chunked'])}1\r\na\r\n0\r\n\r\n`,
  ]
  return Array.from({ length: count }, (_, n) => {
    const text = mutate(random, random.pick(seeds))
    const statuses = [0, 101, 200, 304, 400, 401, 402, 404, 405, 408, 413, 415, 417, 426, 431, 505]
    return connectionCase(
      'mutated',
      `${n}: ${JSON.stringify(text.slice(0, 50))}`,
      [text],
      { statuses },
      { endsAfter: true },
    )
  })
}

function mutate(random: Random, text: string): string {
  let changed = text
  for (let step = random.below(4); step >= 0; step--) {
    const at = random.below(changed.length)
    const span = 1 + random.below(8)
    const cut = changed.slice(at, at + span)
    const byte = String.fromCharCode(random.below(256))
    const put = random.pick([
      byte,
      '',
      cut + cut,
      '\r\n',
      '\0',
      ' ',
      ':',
      `${cut}${byte.repeat(200)}`,
    ])
    changed = changed.slice(0, at) + put + changed.slice(at + span)
  }
  return changed
}
