import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ProductKey } from '../auth/product-keys.ts'
import type { Tokens } from '../auth/tokens.ts'
import type { Billing } from '../billing/billing.ts'
import type { Credits } from '../credits/credits.ts'
import { ApiError } from '../errors.ts'
import type { ApiMiddleware } from './context.ts'
import { insufficient } from './metering.ts'
import { requirePro } from './require-pro.ts'

/** A connection whose client asks for a WebSocket. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** Bytes that were read after the request. */
  readonly head: Buffer
}

/** A dashboard connection: a wallet with a token, valid while token and Pro last (rule F1). */
export interface Viewer {
  readonly wallet: string
  /** The token's `jti`. */
  readonly tokenId: string
  /** The token's generation: see `Session`. */
  readonly generation: number
  /** When the token expires, unix seconds, exclusive. */
  readonly expiresAt: number
  /** When Pro ends, unix seconds, exclusive. */
  readonly proUntil: number
  /** Whether the token was revoked. Rejects with `unavailable`. */
  isRevoked(): Promise<boolean>
  /** Returns when Pro ends, or null if it has ended. Rejects with `unavailable`. */
  readProUntil(): Promise<number | null>
}

/** The key that opened a trade connection. Only the own key of an account has no end. */
export type FeedKey = { readonly account: string } & (
  | { readonly kind: 'own' }
  | {
      readonly kind: 'named'
      readonly sha256: string
      /** When it expires, unix milliseconds, exclusive; null: never. */
      readonly expiresAtMs: number | null
    }
  | {
      readonly kind: 'session'
      /** Id and generation of the session's token: see `Session`. */
      readonly tokenId: string
      readonly generation: number
      /** When it expires, unix milliseconds, exclusive. */
      readonly expiresAtMs: number
      /** Whether the session was revoked. Rejects with `unavailable`. */
      isRevoked(): Promise<boolean>
    }
)

/** Takes over WebSocket connections. */
export interface UpgradeHandler {
  /** Accepts a connection with a key of an account with `left` credits. */
  accept(upgrade: Upgrade, key: FeedKey, left: number): void
  /** Accepts a dashboard connection. */
  acceptViewer(upgrade: Upgrade, viewer: Viewer): void
}

/** Refuses accounts without a credit, and dashboards of wallets without Pro (rule F1). */
export function requireCreditsOrPro(
  credits: Credits,
  billing: Pick<Billing, 'pro'> | null,
): ApiMiddleware {
  const withPro = requirePro(billing)
  return async function requireMeans(ctx, next) {
    if (ctx.state.session !== undefined) return withPro(ctx, next)
    const left = await credits.left(ctx.state.account ?? '')
    ctx.state.left = left
    if (left < 1) throw insufficient('A trade on the feed', 1, left)
    await next()
  }
}

/** Hands the connection of a valid WebSocket handshake to the feed. */
export function upgrade(deps: {
  readonly feed: UpgradeHandler
  readonly upgradeOf: (request: IncomingMessage) => Upgrade | undefined
  readonly tokens: Pick<Tokens, 'isRevoked'>
  readonly billing: Pick<Billing, 'pro'> | null
}): ApiMiddleware {
  const { feed, upgradeOf, tokens, billing } = deps
  return async function upgrade(ctx) {
    const upgradeRequest = upgradeOf(ctx.req)
    if (upgradeRequest === undefined || !isHandshake(upgradeRequest.request))
      throw new ApiError('upgrade_required', {
        headers: {
          Upgrade: 'websocket',
          Connection: 'Upgrade, close',
          'Sec-WebSocket-Version': '13',
        },
      })
    ctx.respond = false
    ctx.res.detachSocket(ctx.req.socket)
    // Ends the exchange: Koa's listeners on the socket would keep request and response as long as
    // it is open.
    ctx.res.emit('finish')
    const { session, proUntil = 0, key, left = 0 } = ctx.state
    if (key !== undefined) feed.accept(upgradeRequest, feedKeyOf(key, tokens), left)
    else if (session !== undefined)
      feed.acceptViewer(upgradeRequest, {
        ...session,
        proUntil,
        isRevoked: () => tokens.isRevoked(session),
        readProUntil: async () => (await billing?.pro(session.wallet))?.expiresAt ?? null,
      })
  }
}

/** Returns the key of a request as the feed keeps it. */
export function feedKeyOf(key: ProductKey, tokens: Pick<Tokens, 'isRevoked'>): FeedKey {
  const { account, kind } = key
  if (kind === 'own') return { account, kind }
  if (kind === 'named') {
    const { sha256, expiresAt } = key.key
    return { account, kind, sha256, expiresAtMs: expiresAt }
  }
  const { session } = key
  const { tokenId, generation, expiresAt } = session
  const isRevoked = () => tokens.isRevoked(session)
  return { account, kind, tokenId, generation, expiresAtMs: expiresAt * 1000, isRevoked }
}

/**
 * Whether a request is a handshake as RFC 6455 4.2.1 defines it. `ws` would refuse others without a
 * problem document.
 */
function isHandshake({ headers }: IncomingMessage): boolean {
  return (
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')
  )
}
