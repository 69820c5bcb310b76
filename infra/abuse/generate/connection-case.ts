import { type AbuseCase, type Exchange, type Expectation, request } from '../case.ts'

export const BEARER = 'Bearer {{key}}'
export const status = (fields: readonly string[] = []) =>
  request('GET /status', { fields, keepsAlive: true })
export const trades = (line: string, fields: readonly string[] = []) =>
  request(line, { credential: BEARER, fields })
export const upgrade = (
  path: string,
  fields: readonly string[],
  credential: string | null = BEARER,
) =>
  request(`GET ${path}`, {
    credential,
    keepsAlive: true,
    fields: ['Connection: Upgrade', ...fields],
  })
export const HANDSHAKE = [
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
]

/** A case on a bare connection. */
export function make(
  group: string,
  what: string,
  pieces: Exchange['pieces'],
  expect: Expectation,
  act: Partial<Exchange> = {},
): AbuseCase {
  return {
    kind: 'connections',
    group: `connections ${group}`,
    title: `${group}: ${what}`,
    act: { via: 'http', pieces, ...act },
    expect,
    limitMs: 10_000,
  }
}
