import { type AbuseCase, type AllowedOutcome, type Exchange, request } from '../case.ts'

/** Authorization field with a valid key. */
export const BEARER = 'Bearer {{key}}'
/** A valid request for `/status`, as text to send. */
export const statusRequest = (fields: readonly string[] = []) =>
  request('GET /status', { fields, keepsAlive: true })
/** A request with a key and the given request line, as text to send. */
export const tradesRequest = (line: string, fields: readonly string[] = []) =>
  request(line, { credential: BEARER, fields })
/** A request to upgrade to WebSocket, as text to send. */
export const upgradeRequest = (
  path: string,
  fields: readonly string[],
  credential: string | null = BEARER,
) =>
  request(`GET ${path}`, {
    credential,
    keepsAlive: true,
    fields: ['Connection: Upgrade', ...fields],
  })
/** Header fields of a valid WebSocket handshake. */
export const HANDSHAKE = [
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
]

/** A case on a bare connection. */
export function connectionCase(
  group: string,
  what: string,
  pieces: Exchange['pieces'],
  expect: AllowedOutcome,
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
