import type { KeyLookUp } from '../accounts/key-cache.ts'
import type { Tokens } from '../auth/tokens.ts'
import { ApiError } from '../errors.ts'
import type { Step } from './context.ts'

/** Finds the account of the request's API key: `Authorization: Bearer <API_KEY>`. Never from the URL. */
export function authenticate(keys: Pick<KeyLookUp, 'accountOf'>): Step {
  return async function authenticate(ctx, next) {
    const text = bearer(ctx.get('Authorization'))
    const account = text === null ? null : await keys.accountOf(text, ctx.state.passed)
    if (account === null) throw new ApiError('unauthorized')
    ctx.state.account = account
    await next()
  }
}

/**
 * Finds who asks for the feed, by an API key or by a dashboard token: `Authorization: Bearer <it>`, and for browsers, which cannot set that field there,
 * `Sec-WebSocket-Protocol: bearer, <it>` (decisions F1). Never from the URL.
 */
export function authenticateFeed(
  keys: Pick<KeyLookUp, 'accountOf'>,
  tokens: Pick<Tokens, 'verify'>,
): Step {
  return async function authenticateFeed(ctx, next) {
    const text = bearer(ctx.get('Authorization')) ?? subprotocol(ctx.get('Sec-WebSocket-Protocol'))
    if (text === null) throw new ApiError('unauthorized')
    // No key has a dot, and no token none.
    const session = text.includes('.') ? await tokens.verify(text) : null
    const account = text.includes('.') ? null : await keys.accountOf(text)
    if (session === null && account === null) throw new ApiError('unauthorized')
    if (session !== null) ctx.state.session = session
    if (account !== null) ctx.state.account = account
    await next()
  }
}

/** Finds who is logged in with the request's dashboard token (decisions E2). What it answers is for nobody else, and kept nowhere. */
export function authenticateSession(tokens: Pick<Tokens, 'verify'>): Step {
  return async function authenticateSession(ctx, next) {
    ctx.set('Cache-Control', 'no-store')
    const text = bearer(ctx.get('Authorization'))
    const session = text === null ? null : await tokens.verify(text)
    if (session === null) throw new ApiError('unauthorized')
    ctx.state.session = session
    await next()
  }
}

function bearer(header: string): string | null {
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? null
}

function subprotocol(header: string): string | null {
  return /^bearer *, *(\S+)$/.exec(header)?.[1] ?? null
}
