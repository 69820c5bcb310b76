import type { ServerMessage } from '../stream/messages.ts'
import { type Followed, followedOf, type Viewed, viewedOf } from './follow.ts'

/** A delivery of a webhook. */
export interface Delivery {
  /** The channel of the webhook; `test`: its owner has asked for a test, which has no messages. */
  readonly kind: 'trades' | 'watchlist' | 'signals' | 'test'
  /** The `id` of the webhook. */
  readonly webhook: string
  /** Position after its messages; null for a test. */
  readonly cursor: string | null
  /**
   * As `follow` and `followViews` yield them. They may come again. Of each `tradeId` the last
   * message counts: one of the same `kind` was delivered before. Other messages are known by `id`.
   */
  readonly messages: readonly (Followed | Viewed)[]
}

/** A delivery whose signature or time is not right. Answer it with 400. */
export class NotVerified extends Error {
  override readonly name = 'NotVerified'
}

/** Deliveries older or newer than this are refused: somebody may send one again. */
const TOLERANCE_SECONDS = 300

/**
 * Verifies a delivery by the Standard Webhooks specification, and reads it. `body` is the body of
 * the request, not parsed. `headers` are those of `node:http` or of `fetch`. Rejects with
 * `NotVerified`, and with another error if `secret` is not the secret of a webhook.
 *
 * @example
 * const { messages } = await readDelivery(body, request.headers, process.env.SECRET ?? '')
 */
export async function readDelivery(
  body: string,
  headers: Fields | FetchHeaders,
  secret: string,
  { now = Date.now } = {},
): Promise<Delivery> {
  if (!/^whsec_[A-Za-z0-9+/]{32,}=*$/.test(secret))
    throw new TypeError('expected a secret, whsec_...')
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => {
    const value = fieldOf(headers, `webhook-${name}`)
    if (typeof value !== 'string') throw new NotVerified(`no header field webhook-${name}`)
    return value
  })
  const age = now() / 1000 - Number(timestamp)
  if (!(Math.abs(age) <= TOLERANCE_SECONDS)) throw new NotVerified('not of the last five minutes')
  const key = await crypto.subtle.importKey(
    'raw',
    bytesOf(secret.replace(/^whsec_/, '')),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  )
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  for (const signature of (signatures ?? '').split(' ')) {
    const [version, text = ''] = signature.split(',')
    if (version !== 'v1') continue
    // Compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, bytesOf(text), signed)) return parse(body)
  }
  throw new NotVerified('no signature by this secret')
}

/** Header fields with names in lower case. */
type Fields = Readonly<Record<string, string | readonly string[] | undefined>>
/** The `Headers` of `fetch`, of which only this is used. */
interface FetchHeaders {
  get(name: string): string | null
}

function fieldOf(headers: Fields | FetchHeaders, name: string) {
  return isOfFetch(headers) ? headers.get(name) : headers[name]
}

function isOfFetch(headers: Fields | FetchHeaders): headers is FetchHeaders {
  return typeof headers.get === 'function'
}

function parse(body: string): Delivery {
  const { type, data } = JSON.parse(body) as {
    readonly type: Delivery['kind']
    readonly data: {
      readonly webhook: string
      readonly cursor?: string
      readonly messages?: readonly ServerMessage[]
    }
  } // it is signed by the service
  const { webhook, cursor = null, messages = [] } = data
  const read = messages.flatMap((one) => followedOf(one) ?? viewedOf(one) ?? [])
  return { kind: type, webhook, cursor, messages: read }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    throw new NotVerified('a signature that is not base64')
  }
}
