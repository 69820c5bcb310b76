import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Tokens } from '../auth/tokens.ts'
import type { Billing } from '../billing/billing.ts'
import type { Credits } from '../credits/credits.ts'
import { ApiError } from '../errors.ts'
import type { ApiMiddleware } from './context.ts'
import { requirePro } from './require-pro.ts'

/** A connection whose client asks to speak WebSocket on it. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What of the connection was read beyond the request. */
  readonly head: Buffer
}

/** Who looks at the views of a dashboard: a wallet by its token, as long as token and Pro last (rule F1). */
export interface Viewer {
  readonly wallet: string
  /** The token's `jti`. */
  readonly tokenId: string
  /** Of the token: see `Session`. */
  readonly generation: number
  /** Of the token, unix seconds; in that second it is over. */
  readonly expiresAt: number
  /** Of Pro, in the same way. */
  readonly proUntil: number
  /** Rejects with `unavailable` when it cannot be told. */
  isRevoked(): Promise<boolean>
  /** Until when Pro lasts by now; null when it is over. Rejects with `unavailable` when it cannot be told. */
  readProUntil(): Promise<number | null>
}

/** Takes connections over. */
export interface UpgradeHandler {
  /** Of an account that has so many credits left. */
  accept(upgrade: Upgrade, account: string, left: number): void
  acceptViewer(upgrade: Upgrade, viewer: Viewer): void
}

/** Refuses those who could not pay for a single message, and dashboards of wallets without Pro (rule F1). */
export function requireCreditsOrPro(
  credits: Credits,
  billing: Pick<Billing, 'pro'> | null,
): ApiMiddleware {
  const withPro = requirePro(billing)
  return async function requireMeans(ctx, next) {
    if (ctx.state.session !== undefined) return withPro(ctx, next)
    const left = await credits.left(ctx.state.account ?? '')
    ctx.state.left = left
    if (left < 1) throw new ApiError('insufficient_credits')
    await next()
  }
}

/** Hands the connection over; `upgradeOf` knows the requests that ask for it. */
export function upgrade(deps: {
  readonly feed: UpgradeHandler
  readonly upgradeOf: (request: IncomingMessage) => Upgrade | undefined
  readonly tokens: Pick<Tokens, 'isRevoked'>
  readonly billing: Pick<Billing, 'pro'> | null
}): ApiMiddleware {
  const { feed, upgradeOf, tokens, billing } = deps
  return async function upgrade(ctx) {
    const asked = upgradeOf(ctx.req)
    if (asked === undefined || !isHandshake(asked.request))
      throw new ApiError('upgrade_required', {
        headers: {
          Upgrade: 'websocket',
          Connection: 'Upgrade, close',
          'Sec-WebSocket-Version': '13',
        },
      })
    ctx.respond = false
    ctx.res.detachSocket(ctx.req.socket)
    const { session, proUntil = 0, account = '', left = 0 } = ctx.state
    if (session === undefined) feed.accept(asked, account, left)
    else
      feed.acceptViewer(asked, {
        ...session,
        proUntil,
        isRevoked: () => tokens.isRevoked(session),
        readProUntil: async () => (await billing?.pro(session.wallet))?.expiresAt ?? null,
      })
  }
}

/**
 * Whether a request has what RFC 6455 4.2.1 asks of a handshake. Others would be refused by `ws`,
 * without a problem document.
 */
function isHandshake({ headers }: IncomingMessage): boolean {
  return (
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')
  )
}
